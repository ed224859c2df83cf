"""Stores with a small project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.config import Config
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.choice import provider_for
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.vectors.index import VectorIndex
from tests.shop import SHOP, Project

PROVIDER = provider_for(Config().embedding)


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


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, VectorIndex]]:
    """The shop with its vectors: tests only ask it."""
    folder = tmp_path_factory.mktemp("asked")
    with closing(Database(folder)) as db:
        project = Project(db)
        project.put(SHOP)
        index = VectorIndex(db, folder, PROVIDER)
        list(index.fill())
        yield project, index


@pytest.fixture
def searcher(asked: tuple[Project, VectorIndex]) -> Searcher:
    project, vectors = asked
    return Searcher(project.db, vectors, Config(), provider=PROVIDER)
