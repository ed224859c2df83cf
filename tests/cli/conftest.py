"""A small real repository, indexed once for the commands that only ask."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from cm_tui.engine.platform.store.connection import connect
from cm_tui.paths import STORE_DATABASE
from tests.cli.in_process import needs_process, run_here
from tests.templates import Template, index

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": '''"""A shopping cart."""

from shop.money import add_tax


class Cart:
    """Holds the items that a customer wants to buy."""

    def __init__(self) -> None:
        self.items: list[tuple[str, int]] = []

    def add(self, name: str, cents: int) -> None:
        """Put an item into the cart."""
        self.items.append((name, cents))

    def total(self) -> int:
        """Sum of all items, tax included."""
        return add_tax(sum(cents for _, cents in self.items))
''',
    "shop/money.py": '''"""Amounts in cents."""

TAX_PERCENT = 19


def add_tax(cents: int) -> int:
    """Raise an amount by the tax."""
    return cents + cents * TAX_PERCENT // 100


def format_price(cents: int) -> str:
    """Show an amount to a person."""
    return f"{cents // 100}.{cents % 100:02d}"
''',
    "shop/checkout.py": '''"""Paying."""

from shop.cart import Cart
from shop.money import format_price


def pay(cart: Cart) -> str:
    """Charge the customer and give a receipt."""
    return receipt(cart)


def receipt(cart: Cart) -> str:
    return format_price(cart.total())
''',
    "README.md": "# Shop\n\n## Refunds\n\nMoney goes back within fourteen days.\n",
    "weird name [x].py": "def bracketed():\n    return 1\n",
    "package-lock.json": "{}\n",
}


@dataclass(frozen=True)
class Result:
    """A finished `cm`."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@dataclass(frozen=True)
class Shop:
    """The repository, and `cm` run in it."""

    root: Path
    home: Path

    def cm(self, *words: str, cwd: Path | None = None, stdin: str = "", **environment: str) -> Result:
        """Run `cm` inside this process, or as one of its own where nothing else will do."""
        settings = {"CM_HOME": str(self.home), "COLUMNS": "120", **environment}
        if needs_process(words):
            return self.process(*words, cwd=cwd, stdin=stdin, **environment)
        return _checked(Result(*run_here(words, cwd=cwd or self.root, environment=settings, stdin=stdin)))

    def process(self, *words: str, cwd: Path | None = None, stdin: str = "", **environment: str) -> Result:
        """Run `cm` as a process of its own."""
        run = subprocess.run(
            [sys.executable, "-m", "cm_tui", *words],
            cwd=cwd or self.root,
            env={**os.environ, "CM_HOME": str(self.home), "COLUMNS": "120", **environment},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        return _checked(Result(run.returncode, run.stdout, run.stderr))


def _checked(done: Result) -> Result:
    assert "Traceback" not in done.err, done.err
    assert "Internal error" not in done.err, done.err
    return done


def make_repository(root: Path) -> None:
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(root, "init", "-q", "-b", "main", "--template=")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Open the shop")


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, made once; tests get copies of it."""
    root = tmp_path_factory.mktemp("made") / "repo"
    make_repository(root)
    return root


@pytest.fixture
def new_shop(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Not indexed yet; free to be changed. What the test itself writes is where `cm` looks."""
    root = tmp_path / "shop repo"
    shutil.copytree(made, root, symlinks=True)
    monkeypatch.setenv("CM_HOME", str(tmp_path / "home"))
    return Shop(root, tmp_path / "home")


class ShopTemplate:
    """The repository with what commands did in it, once; each test gets it as it was then.

    Args:
        folder: an empty folder.
        fill: runs the commands; what it returns is `found`.
        indexed: the repository has an index before.
    """

    def __init__(self, folder: Path, fill: Callable[[Shop], Any] = lambda _: None, *, indexed: bool = True) -> None:
        self._template = Template(folder, make_repository, index if indexed else None)
        with mock.patch.dict(os.environ, CM_HOME=str(self._template.home)):
            self.found = fill(Shop(self._template.root, self._template.home))
        self._template.keep()

    def put_back(self, monkeypatch: pytest.MonkeyPatch) -> Shop:
        """Put everything back; what the test itself writes is where `cm` looks."""
        monkeypatch.setenv("CM_HOME", str(self._template.home))
        return Shop(self._template.put_back(), self._template.home)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> ShopTemplate:
    """The repository with its index, made once."""
    return ShopTemplate(tmp_path_factory.mktemp("indexed shop"))


@contextmanager
def opened_once(shop: Shop) -> Iterator[Shop]:
    """Hold the store open for a block: opening and closing it takes DuckDB 25 ms, most of what many commands take.

    A command finds it open, as connections of one process share it. Other processes cannot use it, and what replaces
    its file must not be run.
    """
    with closing(connect(next(shop.home.rglob(STORE_DATABASE)))):
        yield shop


@pytest.fixture
def own_shop(template: ShopTemplate, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Indexed, and free to be changed."""
    return template.put_back(monkeypatch)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Indexed; only asked."""
    template = Template(tmp_path_factory.mktemp("shop"), make_repository)
    return Shop(template.root, template.home)
