"""A small repository of three commits with an index: fixtures for whoever imports them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from tests.gitrepo import Repo
from tests.templates import Template

SHOP = '''"""Prices."""


def price(net):
    """Return the price with tax."""
    return tax(net) + net


def tax(net):
    return net * 0.19
'''


def make(root: Path) -> None:
    """Make the repository."""
    repo = Repo(root)
    repo.write("shop.py", SHOP)
    repo.write("till.py", "from shop import price\n\n\ndef pay(net):\n    return price(net)\n")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "A shop")
    for number in range(2):
        repo.write("shop.py", SHOP + f"\n\nVERSION = {number}\n")
        repo.write("till.py", f"from shop import price\n\n\ndef pay(net):\n    return price(net) + {number}\n")
        repo.git("commit", "-qam", f"Change {number}")


@pytest.fixture(scope="session")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """The repository with its index, made once."""
    return Template(tmp_path_factory.mktemp("priced"), make)


@pytest.fixture
def root(priced: Template, cm_home: Path) -> Path:
    """The repository with its index, as they were made."""
    return priced.put_back(cm_home)


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    """Its engine."""
    with Engine.open(root) as opened:
        yield opened
