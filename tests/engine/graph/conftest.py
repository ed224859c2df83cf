from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from cm_tui.engine.code.graph.graph import Graph
from cm_tui.engine.platform.store.database import Database
from tests.bench.callers import load_files


class Project:
    """A store filled from files given as text."""

    def __init__(self, folder: Path) -> None:
        self.db = Database(folder)
        self.texts: dict[str, str] = {}
        self.graph = Graph(self.db, lambda path, _oid: self.texts[path])

    def write(self, files: Mapping[str, str]) -> "Project":
        texts = {path: dedent(text).lstrip("\n") for path, text in files.items()}
        self.texts |= texts
        load_files(self.db, ((path, text.encode()) for path, text in texts.items()))
        return self

    def called_from(self, name, **options) -> list[str]:
        """`path:line caller (resolution)` of every call site."""
        page = self.graph.callers(name, **options)
        assert page.total == len(page.rows)
        return [f"{e.path}:{e.line} {e.qualname} ({e.resolution})" for e in page.rows]

    def sites(self, name, **options) -> list[str]:
        return [line.rpartition(" (")[0] for line in self.called_from(name, **options)]


@pytest.fixture
def project(tmp_path) -> Callable[[Mapping[str, str]], Project]:
    made: list[Project] = []

    def make(files: Mapping[str, str]) -> Project:
        made.append(Project(tmp_path / f"store{len(made)}"))
        return made[-1].write(files)

    yield make
    for one in made:
        one.db.close()
