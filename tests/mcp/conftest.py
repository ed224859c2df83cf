"""A small repository that was indexed once: tests ask it, or get it with its store as it was then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import make_repository
from tests.templates import Template


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The repository that is only asked."""
    return Template(tmp_path_factory.mktemp("asked"), make_repository)


@pytest.fixture(scope="session")
def changeable(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The repository that tests change."""
    return Template(tmp_path_factory.mktemp("changed"), make_repository)


@pytest.fixture
def fresh(indexed: Template, tmp_path: Path) -> Path:
    """A repository without an index."""
    return Path(shutil.copytree(indexed.root, tmp_path / "fresh", symlinks=True))


@pytest.fixture
def shop(indexed: Template, cm_home: Path) -> Path:
    """The indexed repository; only asked."""
    shutil.copytree(indexed.home, cm_home, dirs_exist_ok=True)
    return indexed.root


@pytest.fixture
def own(changeable: Template, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The indexed repository, which may be changed; its home is empty but for its index."""
    monkeypatch.setenv("CM_HOME", str(changeable.home))
    return changeable.put_back()
