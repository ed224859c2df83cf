"""Stores with a small project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cm_tui.engine.store.database import Database
from tests.shop import SHOP, Project


@pytest.fixture
def make_project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Project]]:
    opened: list[Database] = []

    def make() -> Project:
        opened.append(Database(Path(tmp_path_factory.mktemp("store"))))
        return Project(opened[-1])

    yield make
    for db in opened:
        db.close()


@pytest.fixture
def project(make_project: Callable[[], Project]) -> Project:
    return make_project()


@pytest.fixture
def shop(project: Project) -> Project:
    """Files about a shop: enough to tell names, paths, tests and prose apart."""
    project.put(SHOP)
    return project
