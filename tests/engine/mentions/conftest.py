"""A project with a history and entries about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo

CONFIG = '''"""Settings."""


def parse_config(path):
    """Return the settings of a file."""
    with open(path) as file:
        return dict(line.split("=") for line in file)


class Reader:
    """Reads."""

    def read_all(self, limit):
        """Return everything."""
        found = []
        for one in range(limit):
            found.append(one)
        return found
'''
JUSTFILE = "test:\n    pytest -q\n\nlint:\n    ruff check .\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    made = Repo(tmp_path / "shop")
    made.write("src/config.py", CONFIG)
    made.write(
        "src/main.py", "import os\n\nHOME = os.environ['SHOP_HOME']\n\n\ndef main():\n    return parse_config(HOME)\n"
    )
    made.write("justfile", JUSTFILE)
    made.write("settings.toml", "[search]\nreranker = 'x'\n")
    made.commit("begin")
    return made


@pytest.fixture
def brought_up(repo: Repo) -> Callable[[], Engine]:
    """Opens the engine with index and history brought up to the files."""

    def opened() -> Engine:
        engine = Engine.open(repo.root)
        list(engine.index())
        list(engine.backfill(depth=10_000))
        return engine

    return opened
