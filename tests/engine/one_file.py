"""Fixtures of a project of one file: for tests of what is remembered beside the code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo
from tests.templates import Template


def make(root: Path) -> None:
    repo = Repo(root)
    repo.write("a.py", "def gravel():\n    return 1\n")
    repo.commit()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Its engine, before the first index run."""
    make(tmp_path / "repo")
    with Engine.open(tmp_path / "repo") as engine:
        yield engine


@pytest.fixture(scope="session")
def kept_file(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The project with its index, made once in a process."""
    return Template(tmp_path_factory.mktemp("one file"), make)


@pytest.fixture
def indexed_engine(kept_file: Template, cm_home: Path) -> Iterator[Engine]:
    """Its engine after the first index run."""
    with Engine.open(kept_file.put_back(cm_home)) as engine:
        yield engine
