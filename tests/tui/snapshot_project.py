"""A project whose pictures never change: the same shas, dates, paths and clock wherever and whenever it is shown."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from unittest import mock

import pytest
from filelock import FileLock, Timeout

from cm_tui.engine.api.engine import Engine
from cm_tui.model import Assembly, Check, ProjectStatus
from tests import gitrepo, templates
from tests.gitrepo import Repo
from tests.tui.mode_driver import FILES

FIRST: Final = 1_735_689_600
"""The time of the first commit: 2025-01-01, 00:00 UTC. Each further one comes a day later."""
DAY: Final = 86_400
NOW: Final = FIRST + 30 * DAY
"""What every clock says."""
SHOWN: Final = "/tmp/cm-snapshot"
"""Where the project lies, as it is on the pictures."""
PLACES: Final = "m0123456789abcdef"
"""One letter for each process that shows it at the same time: the project lies at `SHOWN`, with this in place of the m."""
OWN = frozenset({"versions", "full-text extension", "grammars", "git"})
"""Checks whose message is about what is installed on this machine."""

CART = '''"""A shopping cart."""


class Cart:
    """Holds what a customer wants to buy."""

    def total(self) -> int:
        """Sum of all items."""
        return sum(self.items)
'''
RECEIPT = '''

def receipt(cart: Cart) -> str:
    """A line for the customer."""
    return f"{cart.total()} cents"
'''
HISTORY: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("Open the shop", {"shop/cart.py": CART + RECEIPT, "README.md": "# Shop\n\nSells things.\n"}),
    (
        "Print receipts",
        {"shop/till.py": "from shop.cart import receipt\n\n\ndef pay(cart):\n    return receipt(cart)\n"},
    ),
    ("Receipts go by mail", {"shop/cart.py": CART, "shop/till.py": "def pay(cart):\n    return None\n"}),
    ("Keep records", FILES),
    ("Receipts come back", {"shop/cart.py": CART + RECEIPT.replace("cents", "euros")}),
)


def make_snapshot_project(root: Path) -> Repo:
    """A repository of these commits, each with its own fixed date."""
    repo = Repo(root)
    for number, (subject, files) in enumerate(HISTORY):
        for path, text in files.items():
            repo.write(path, text)
        date = f"{FIRST + number * DAY} +0000"
        with mock.patch.dict(gitrepo._ENVIRONMENT, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date):
            repo.commit(subject)
    return repo


class StillEngine(Engine):
    """The engine, without what differs from machine to machine: the size of files, and what is installed."""

    def status(self) -> ProjectStatus:
        """The status, with a size that is always the same."""
        return replace(super().status(), disk_bytes=4_200_000)

    def doctor(self, *, full: bool = False) -> tuple[Check, ...]:
        """The checks, without the versions in them."""
        return tuple(
            replace(check, message=f"{check.name} as installed") if check.name in OWN else check
            for check in super().doctor(full=full)
        )

    def assemble(self, prompt: str, **values: Any) -> Assembly:
        """What is handed over, with latencies that are always the same."""
        made = super().assemble(prompt, **values)
        steps = sorted(made.steps, key=lambda step: (step.source, step.name))
        still = [
            replace(
                step,
                start_ms=number * 3.0,
                ms=5.0 + number,
                outcome="ok" if step.outcome in ("cached", "shared") else step.outcome,
            )
            for number, step in enumerate(steps)
        ]
        sources = tuple(replace(source, ms=4.0) for source in made.sources)
        return replace(made, ms=42.0, steps=tuple(still), sources=sources)


def define_context(root: Path) -> None:
    """Write a few files that say what is handed over, one of them with a mistake."""
    for path, text in {
        "retrieval/release.yaml": (
            "name: release\nsection: state\nsteps:\n  - {type: kv_get, keys: [release]}\n"
            '  - {type: format, template: "Release codename: {{release.codename}}"}\n'
        ),
        "retrieval/wrong.yaml": "name: wrong\nsteps:\n  - {type: vector_serch}\n",
        "retrieval/near.yaml": (
            "name: near\nmaxContribution: 60\nsteps:\n  - {type: vector_search, topK: 3, minScore: 0}\n"
            '  - {type: format, template: "- {{path}} {{symbol}}"}\n'
        ),
        "rules/records.yaml": (
            "name: records\ncondition: {field: task.text, op: contains, value: records}\n"
            'action: {include: "kv://records", section: suggestions}\n'
        ),
        "memory/kv.json": '{"release": {"codename": "Ibis"}, "records": "Keep them short."}\n',
    }.items():
        file = root / ".cm" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@contextmanager
def still_clock() -> Iterator[None]:
    """Every clock that is shown stands still, in UTC; those that timers and waiting go by run on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        patch.setattr("time.time", lambda: float(NOW))
        patch.setattr("time.perf_counter", lambda: 0.0)
        yield
    time.tzset()


class SnapshotProject:
    """The project at a place of this process alone: indexed once, and put back as it was for each test.

    Args:
        folder: where the process has it.
        kept: an empty folder for the copy that it is put back from.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        self._folder, self._kept = folder, kept / "kept"
        shutil.rmtree(folder, ignore_errors=True)
        make_snapshot_project(folder / "shop")
        with self._at_home(), Engine.open(folder / "shop") as engine:
            templates.index_with_history(engine)
        shutil.copytree(folder, self._kept, symlinks=True)

    @contextmanager
    def shown(self) -> Iterator[Path]:
        """The project as it was prepared, with nothing remembered."""
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._kept, self._folder, symlinks=True)
        with self._at_home():
            templates.link(self._folder / "shop", self._folder / "home")
            yield self._folder / "shop"

    @staticmethod
    def picture(svg: str) -> str:
        """Return a picture with the path that is the same in every process."""
        return re.sub(r"/tmp/c\w-sn", SHOWN[: len("/tmp/cm-sn")], svg)

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        settings = {"CM_HOME": str(self._folder / "home"), "HOME": str(self._folder)}
        with mock.patch.dict(os.environ, settings), still_clock():
            yield


@contextmanager
def own_place() -> Iterator[Path]:
    """A folder that no other process shows the project in meanwhile; its path is as long as the one on the pictures."""
    for letter in PLACES:
        folder = Path(SHOWN.replace("/cm-", f"/c{letter}-"))
        lock = FileLock(f"{folder}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            continue
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()
        return
    raise AssertionError(f"{len(PLACES)} processes show the project at once.")
