"""A project with proposals, made once in a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.engine.narrator.decided import taught
from tests.engine.narrator.passes import new_project, passed, sayings, use
from tests.templates import Template


@pytest.fixture(scope="session")
def prepared_proposals(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """A project in which two things were said in three sessions each, and looked at."""

    def fill(engine: Engine) -> None:
        taught(engine.root, "boil the quokka", "sign tags")
        passed(engine)

    with pytest.MonkeyPatch.context() as patch:
        use(patch, sayings)
        return Template(tmp_path_factory.mktemp("proposals"), new_project, fill)


@pytest.fixture
def with_proposals(prepared_proposals: Template, cm_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The engine of that project, as it was."""
    use(monkeypatch, sayings)
    with Engine.open(prepared_proposals.put_back(cm_home)) as engine:
        yield engine
