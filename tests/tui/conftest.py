"""A project that was indexed once: each test finds it with its store as it was made."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.daemon.conftest import daemons_allowed
from tests.gitrepo import Repo
from tests.templates import Template, index, index_with_history
from tests.tui import textual_speed
from tests.tui.mode_driver import make_project
from tests.tui.recorded_sessions import record_story, sha_of_head
from tests.tui.story import tell


@pytest.fixture(scope="session", autouse=True)
def quick_textual() -> Iterator[None]:
    """What Textual does for tests takes no longer than it must."""
    with pytest.MonkeyPatch.context() as patch:
        textual_speed.apply(patch)
        yield


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The project, indexed."""
    return Template(tmp_path_factory.mktemp("prepared"), make_project)


@pytest.fixture(scope="session")
def prepared_story(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The project with three sessions that agents had there."""

    def fill(engine: Engine) -> None:
        record_story(engine.root, sha_of_head(engine.root), now=time.time())
        index(engine)

    return Template(tmp_path_factory.mktemp("story"), make_project, fill)


@pytest.fixture(scope="session")
def prepared_history(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A repository with a history worth telling, all of it read."""
    return Template(tmp_path_factory.mktemp("history"), tell, index_with_history)


@pytest.fixture(autouse=True)
def transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where agents keep their transcripts, in a test: nobody's own are offered."""
    folder = tmp_path / "agents"
    for name, place in (("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, str(folder / place))
    return folder


@pytest.fixture
def project(prepared: Template, cm_home: Path) -> Path:
    """An indexed git repository: the same one for every test, as it was made."""
    return prepared.put_back(cm_home)


@pytest.fixture
def told(prepared_story: Template, cm_home: Path) -> Path:
    """The project, with three sessions."""
    return prepared_story.put_back(cm_home)


@pytest.fixture
def story(prepared_history: Template, cm_home: Path) -> Repo:
    """A repository whose history was read."""
    return Repo(prepared_history.put_back(cm_home), init=False)


@pytest.fixture
def owned(project: Path, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The indexed project, whose application and other clients go through a daemon that does not watch its files."""
    monkeypatch.setenv("CM_WATCH__ENABLED", "false")
    with daemons_allowed(cm_home):
        yield project
