"""A small repository that was indexed once: each test gets a copy of it with its store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from unittest import mock

import pytest

from cm_tui.engine.local.engine import LocalEngine
from tests.cli.conftest import make_repository


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `shop` and, beside it, `home` with its index."""
    folder = tmp_path_factory.mktemp("indexed")
    root = folder / "shop"
    root.mkdir()
    make_repository(root)
    with mock.patch.dict(os.environ, {"CM_HOME": str(folder / "home")}), LocalEngine.open(root) as engine:
        for _ in engine.index():
            pass
    return folder


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A repository without an index."""
    root = tmp_path / "fresh"
    root.mkdir()
    make_repository(root)
    return root


@pytest.fixture
def shop(indexed: Path, cm_home: Path) -> Path:
    """The indexed repository; only asked."""
    shutil.copytree(indexed / "home", cm_home, dirs_exist_ok=True)
    return indexed / "shop"


@pytest.fixture
def own(shop: Path, indexed: Path, tmp_path: Path) -> Path:
    """A copy that may be changed: the index is brought over to it by the first run."""
    root = Path(shutil.copytree(shop, tmp_path / "own"))
    with LocalEngine.open(root) as engine:
        for _ in engine.index():
            pass
    return root
