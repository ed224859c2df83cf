"""What went wrong in the systems before this one, each as a test on a real repository and a real index."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from cm_tui.engine.api.engine import Engine
from cm_tui.engine.code.freshness.project_sync import ProjectSync
from cm_tui.engine.code.freshness.scheduler import NOTHING, path_filter
from cm_tui.engine.code.freshness.staleness import Staleness
from cm_tui.integrations import git_hooks
from tests.engine.freshness.waiting import SECONDS, run_to_end, until
from tests.gitrepo import Repo

SHOP = {
    "shop/money.py": "def add_tax(price):\n    return price * 1.2\n",
    "shop/cart.py": "from shop.money import add_tax\n\n\ndef total(items):\n    return add_tax(sum(items))\n",
    "shop/größe & preis.py": "def prix_à_payer():\n    return 1\n",
}

PATIENCE = 5.0


class Kept:
    """A repository whose index is kept fresh."""

    def __init__(self, root: Path) -> None:
        self.repo = Repo(root)
        for name, text in SHOP.items():
            self.repo.write(name, text)
        self.repo.commit("one")
        self.engine = Engine.open(root)
        self.indexed: list[tuple[str, ...]] = []
        index = self.engine.run_index

        def counted(**how):
            self.indexed.append(tuple(how["paths"]))
            return index(**how)

        self.engine.run_index = counted
        self.sync = ProjectSync(
            self.engine.root,
            lambda paths: run_to_end(self.engine.run_index(paths=paths)),
            partial(path_filter, self.engine.root, self.engine.store / "shadow", self.engine.config),
            self.engine.config.watch,
            debounce_s=0.3,
        )
        self.sync.start()
        assert self.sync.watcher is not None
        assert self.sync.watcher.wait_until_watching(SECONDS)
        assert self.sync.scheduler.flush(SECONDS)

        self.begin()

    def begin(self) -> None:
        """What happened before is of no interest."""
        self.indexed.clear()
        self._since = time.time()

    def fresh(self) -> None:
        """Ask once; what is asked next must reflect everything that was written before.

        Whether something is behind afterwards says nothing: the watcher may tell of the same change once more meanwhile.
        """
        self.sync.before_query(SECONDS)

    def callers(self, name: str) -> list[tuple[str, int]]:
        return [(edge.site, edge.line) for edge in self.engine.callers(name).rows]

    def defined(self, name: str) -> list[str]:
        """Paths that define a name."""
        return [symbol.path for symbol in self.engine.symbols().rows if symbol.name == name]

    def rest(self) -> None:
        """Wait until every layer has told what it saw since the beginning, and all of it is served.

        The system may have told the watcher of nothing, as rarely happens under load: the question's own look has
        found it by then, and the watcher is given ten times its debounce.
        """
        watcher = self.sync.watcher
        assert watcher is not None
        patience = time.monotonic() + PATIENCE
        until(lambda: (watcher.state.fired_at or 0) > self._since or time.monotonic() > patience)
        until(lambda: not self.sync.freshness().behind)

    def close(self) -> None:
        self.sync.stop()
        self.engine.close()


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    monkeypatch.setenv("CM_EMBEDDING__PROVIDER", "none")
    monkeypatch.setenv("CM_WATCH__DEBOUNCE_SECONDS", "0.5")
    kept = Kept(tmp_path / "mein laden")
    yield kept
    kept.close()


def test_one_edit_causes_one_sync(kept: Kept):
    kept.begin()
    kept.repo.write("shop/money.py", "def add_tax(price):\n    return price * 2\n")
    # Every layer tells of it: the save hook at once, a question right after, the watcher when it has come to rest.
    kept.sync.signal("save", frozenset({"shop/money.py"}))
    kept.fresh()
    kept.rest()
    kept.sync.signal("git hooks", None, "post-checkout")
    assert kept.sync.scheduler.flush(SECONDS)
    kept.fresh()
    assert kept.indexed == [("shop/money.py",)]
    state = kept.sync.freshness()
    assert {layer.name for layer in state.layers} >= {"save", "guard", "watcher", "git hooks"}
    assert not state.behind


def test_the_indexs_own_reads_and_writes_wake_no_layer(kept: Kept):
    kept.begin()
    for _ in range(3):
        for _ in kept.engine.index(paths=()):
            pass
        kept.engine.search("tax")
        kept.engine.status()
    kept.begin()
    kept.repo.write("shop/money.py", "x = 1\n")
    # What the watcher says late of what was before must not be taken for this.
    kept.fresh()
    kept.rest()
    assert kept.indexed == [("shop/money.py",)]


def test_the_check_does_not_block_itself(kept: Kept):
    answers: list[bool] = []
    index = kept.engine.run_index

    def asking(**how):
        # A run that asks a question, as an index run that searches would.
        answers.append(kept.sync.before_query(SECONDS).behind)
        return (yield from index(**how))

    kept.engine.run_index = asking
    kept.begin()
    kept.repo.write("shop/money.py", "x = 1\n")
    asker = threading.Thread(target=kept.fresh)
    asker.start()
    asker.join(SECONDS)
    assert not asker.is_alive()
    assert answers == [True]
    kept.rest()
    assert len(kept.indexed) == 1


def test_a_commit_a_branch_switch_and_a_removed_file_are_followed(kept: Kept):
    kept.repo.git("checkout", "-q", "-b", "side")
    (kept.repo.root / "shop/cart.py").unlink()
    kept.repo.write("shop/later.py", "def came_later():\n    return 1\n")
    kept.repo.commit("two")
    kept.fresh()
    assert kept.engine.stale_reason() == ""
    assert kept.callers("add_tax") == []
    kept.repo.git("checkout", "-q", "main")
    kept.fresh()
    assert kept.engine.stale_reason() == ""
    assert kept.defined("came_later") == []
    assert kept.callers("add_tax") == [("shop/cart.py", 5)]


def test_a_question_takes_in_what_the_watcher_has_not_handled(
    sleepy: None, kept: Kept, monkeypatch: pytest.MonkeyPatch
):
    # The check has had no time to look at this file, as in a large project.
    monkeypatch.setattr(kept.sync.staleness, "check", lambda **_: Staleness(NOTHING, ""))
    kept.repo.write("shop/money.py", "def add_toll(price):\n    return price * 1.3\n")
    until(lambda: (kept.fresh(), kept.defined("add_toll"))[1])
    assert kept.indexed[-1] == ("shop/money.py",)


def test_it_follows_by_itself(kept: Kept):
    kept.repo.write("shop/later.py", "def came_later():\n    return 1\n")
    until(lambda: len(kept.defined("came_later")) == 1)
    until(lambda: not kept.sync.freshness().behind)
    assert kept.sync.freshness().did.startswith("indexed shop/later.py: 1 file parsed")


def test_git_checkout_exits_0_without_cm_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    repo = Repo(tmp_path / "repo")
    repo.commit("one")
    repo.git("branch", "side")
    monkeypatch.setattr(git_hooks, "command", lambda: None)
    git_hooks.install(repo.root)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(shutil.which(name) or "")
    environment = {**os.environ, "PATH": str(tools)}
    done = subprocess.run(
        ["git", "checkout", "-q", "side"], cwd=repo.root, env=environment, check=False, capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
