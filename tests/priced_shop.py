"""A small repository of three commits with an index: fixtures for whoever imports them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo

SHOP = '''"""Prices."""


def price(net):
    """Return the price with tax."""
    return tax(net) + net


def tax(net):
    return net * 0.19
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    repo = Repo(tmp_path / "project")
    repo.write("shop.py", SHOP)
    repo.write("till.py", "from shop import price\n\n\ndef pay(net):\n    return price(net)\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A shop")
    for number in range(2):
        repo.write("shop.py", SHOP + f"\n\nVERSION = {number}\n")
        repo.write("till.py", f"from shop import price\n\n\ndef pay(net):\n    return price(net) + {number}\n")
        repo.git("commit", "-qam", f"Change {number}")
    return repo.root


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine.open(root) as opened:
        for _ in opened.index():
            pass
        yield opened
