"""Fixtures of a project of one file: for tests of what is remembered beside the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Its engine, before the first index run."""
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "def gravel():\n    return 1\n")
    repo.commit()
    with Engine.open(repo.root) as engine:
        yield engine


@pytest.fixture
def indexed_engine(engine: Engine) -> Engine:
    """The same engine after it."""
    for _ in engine.index():
        pass
    return engine
