"""A project that goes by its remote, on whatever machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitrepo import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "shop")
    repo.write("a.py", "x = 1\n")
    repo.commit()
    repo.git("remote", "add", "origin", "https://example.org/me/shop.git")
    return repo
