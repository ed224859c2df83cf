"""A project that was indexed once: each test gets a copy of it with its store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.git import checkout_links
from cm_tui.engine.git.identity import claimed
from cm_tui.engine.local.engine import LocalEngine
from tests.daemon.conftest import daemons_allowed
from tests.tui import textual_speed
from tests.tui.mode_driver import make_project


@pytest.fixture(scope="session", autouse=True)
def quick_textual() -> Iterator[None]:
    """What Textual does for tests takes no longer than it must."""
    with pytest.MonkeyPatch.context() as patch:
        textual_speed.apply(patch)
        yield


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `project` and, beside it, `home` with its index."""
    folder = tmp_path_factory.mktemp("prepared")
    root = make_project(folder / "project")
    with mock.patch.dict(os.environ, {"CM_HOME": str(folder / "home")}), LocalEngine.open(root) as engine:
        for _ in engine.index():
            pass
    return folder


@pytest.fixture(autouse=True)
def transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where agents keep their transcripts, in a test: nobody's own are offered."""
    folder = tmp_path / "agents"
    for name, place in (("CLAUDE_CONFIG_DIR", "claude"), ("CODEX_HOME", "codex"), ("XDG_DATA_HOME", "data")):
        monkeypatch.setenv(name, str(folder / place))
    return folder


@pytest.fixture
def project(prepared: Path, tmp_path: Path, cm_home: Path) -> Path:
    """The copy: an indexed git repository, which a person has linked to the index that was copied with it."""
    shutil.copytree(prepared / "home", cm_home, dirs_exist_ok=True)
    root = Path(shutil.copytree(prepared / "project", tmp_path / "project"))
    found = claimed(root)
    checkout_links.link(found.text, found.name, root)
    return root


@pytest.fixture
def owned(project: Path, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The indexed project, whose application and other clients go through a daemon that does not watch its files."""
    monkeypatch.setenv("CM_WATCH__ENABLED", "false")
    with daemons_allowed(cm_home):
        yield project
