"""Worktrees and linked clones asked in turn: each has a copy of the project's store, so that after the first round none is indexed again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from cm_tui import paths
from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.open_engine import secrets_of
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects, worktree_stores
from cm_tui.engine.api.engine import Engine
from cm_tui.engine.api.everywhere import recall_everywhere
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.git.identity import Identity, identify
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.store import rewrite
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError, StoreError
from cm_tui.lru import LRU
from tests.cli.conftest import git
from tests.daemon.conftest import make_project
from tests.fake_clock import FakeClock
from tests.forked import run_python
from tests.planted import GITHUB

ROUNDS = 3
SECRET = "the words Ruritania and Graustark"


@dataclass
class Trees:
    """A repository, worktrees and a clone of it, each on its own branch with its own edit."""

    roots: list[Path]
    runs: list[str] = field(default_factory=list)
    """Names of the checkouts that index runs were made of."""

    @property
    def main(self) -> Path:
        return self.roots[0]

    @property
    def store(self) -> Path:
        """The project's store."""
        return paths.project_store(projects.store_of(self.main))

    def add(self, name: str, *, clone: bool = False) -> Path:
        root = self.main.parent / name
        if clone:
            git(self.main, "clone", "-q", str(self.main), str(root))
            for one in (self.main, root):
                checkout_links.link(identify(self.main).text, identify(self.main).name, one)
        else:
            git(self.main, "worktree", "add", "-q", "-b", f"branch-{name}", str(root))
        (root / "shop/committed.py").write_text(f"def committed_in_{name}():\n    return 1\n")
        git(root, "add", ".")
        git(root, "commit", "-qm", f"work in {name}")
        called = f"committed_in_{name}"
        (root / "shop/own.py").write_text(
            f"from shop.committed import {called}\n\n\ndef only_in_{name}():\n    return {called}()\n"
        )
        self.roots.append(root)
        return root


@pytest.fixture
def trees(cm_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    for name, value in {"EMBEDDING__PROVIDER": "none", "HISTORY__ENABLED": "false", "NARRATOR__AUTO": "false"}.items():
        monkeypatch.setenv(f"CM_{name}", value)
    found = Trees([make_project(tmp_path / "main")])
    (found.main / "shop/own.py").write_text("def only_in_main():\n    return 1\n")
    found.add("one")
    found.add("two", clone=True)
    original = Engine.run_index

    def counted(engine: Engine, **values: Any) -> Any:
        found.runs.append(engine.root.name)
        return original(engine, **values)

    monkeypatch.setattr(Engine, "run_index", counted)
    return found


class Daemon:
    """What a daemon is made of, in this process."""

    def __init__(self, clock: FakeClock | None = None) -> None:
        self.jobs, self.pool = Jobs(events := Events()), ProjectPool(clock or FakeClock())
        self.dispatcher = Dispatcher(self.pool, self.jobs, events, 30.0)

    def call(self, root: Path, method: str, /, **arguments: Any) -> Any:
        return self.dispatcher.call(method, ProjectRef(str(root)), arguments)

    def index(self, root: Path) -> None:
        self.dispatcher.start("index", ProjectRef(str(root)), {}).wait()

    def names(self, root: Path) -> set[str]:
        """Every symbol that a checkout has, by the index."""
        return {symbol.name for symbol in self.call(root, "symbols").rows}

    def close(self) -> None:
        self.jobs.close()
        self.dispatcher.sync_manager.close()
        self.pool.close()


@pytest.fixture
def daemon(trees: Trees) -> Iterator[Daemon]:
    found = Daemon()
    found.index(trees.main)
    trees.runs.clear()
    yield found
    found.close()


def own_names(root: Path) -> set[str]:
    return {f"only_in_{root.name}"} | ({f"committed_in_{root.name}"} if root.name != "main" else set())


def ask(daemon: Daemon, root: Path) -> None:
    """Its answers are of its own branch and its own edits."""
    assert {name for name in daemon.names(root) if "_in_" in name} == own_names(root)
    if root.name != "main":
        callers = daemon.call(root, "callers", name=f"committed_in_{root.name}").rows
        assert [row.qualname for row in callers] == [f"only_in_{root.name}"]


def record(root: Path) -> None:
    said = {"type": "task", "agent": "codex", "session": "s", "prompts": [SECRET], "root": str(root)}
    Journal.of(root).append("episode", said)


def holding_secret() -> list[Path]:
    return [file for file in paths.data_dir().rglob("*") if file.is_file() and b"Graustark" in file.read_bytes()]


def runs_of_a_round(trees: Trees, daemon: Daemon) -> list[str]:
    trees.runs.clear()
    for root in trees.roots:
        ask(daemon, root)
    return sorted(trees.runs)


def test_after_the_first_round_nothing_is_indexed_again_and_the_memory_is_shared(trees: Trees, daemon: Daemon) -> None:
    runs_of_a_round(trees, daemon)
    assert [runs_of_a_round(trees, daemon) for _ in range(ROUNDS)] == [[]] * ROUNDS
    copies = {paths.worktree_store(trees.store, root) for root in trees.roots[1:]}
    assert set(worktree_stores.copies_of(trees.store)) == copies
    record(trees.roots[1])
    for root in trees.roots:
        assert daemon.call(root, "search", query="Graustark", profile="memory").hits, root.name
        assert len(daemon.call(root, "episodes").rows) == 1
    assert runs_of_a_round(trees, daemon) == []
    user_marks.set_mark(paths.worktree_store(trees.store, trees.roots[1]), "last_seen", "f" * 40)
    assert user_marks.read(trees.store) == {"last_seen": "f" * 40}
    daemon.pool.close()
    # One project, by whichever of its checkouts it is found.
    for root in trees.roots[:2]:
        identify(root).write_manifest(root)
        found = recall_everywhere("Graustark", 5, None, Engine.open)
        assert (len(found.rows), found.projects) == (1, 1)
        assert "skipped" not in str(found.notes)


def test_nor_with_more_of_them_than_are_watched(trees: Trees, daemon: Daemon) -> None:
    daemon.dispatcher.sync_manager._syncs = LRU(1)
    runs_of_a_round(trees, daemon)
    assert [runs_of_a_round(trees, daemon) for _ in range(2)] == [[], []]
    # What was edited meanwhile is found: kept up means fresh.
    (trees.roots[1] / "shop/own.py").write_text("def again_in_one():\n    return committed_in_one()\n")
    assert "again_in_one" in daemon.names(trees.roots[1])
    git(trees.roots[2], "commit", "-qam", "nothing new", "--allow-empty")
    ask(daemon, trees.roots[2])


def test_without_a_daemon_too(trees: Trees) -> None:
    with Engine.open(trees.main) as engine:
        list(engine.index())
    for number in range(ROUNDS):
        for root in trees.roots:
            with Engine.open(root) as engine:
                reason = engine.stale_reason()
                assert bool(reason) == (number == 0 and root != trees.main), reason
                if reason:
                    list(engine.index())
                assert {row.name for row in engine.symbols().rows if "_in_" in row.name} == own_names(root)


def test_the_copy_of_a_missing_worktree_goes(trees: Trees, daemon: Daemon) -> None:
    runs_of_a_round(trees, daemon)
    first, second = (paths.worktree_store(trees.store, root) for root in trees.roots[1:])
    for root in trees.roots[1:]:
        shutil.rmtree(root)
    with daemon.pool._changed:
        closed = daemon.pool._open.pop(second)
    closed.engine.close()
    assert daemon.pool.sweep(idle_seconds=1e9) == [trees.roots[1]]
    assert (first.exists(), second.exists()) == (False, True)
    del trees.roots[1:]
    ask(daemon, trees.add("three"))
    assert worktree_stores.copies_of(trees.store) == [paths.worktree_store(trees.store, trees.roots[1])]


@pytest.mark.parametrize("place", ["copy of a small file", "half of the copy", "manifest"])
def test_a_copy_that_was_killed_does_not_count(trees: Trees, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with Engine.open(trees.main) as engine:
        list(engine.index())
    root = trees.roots[1]
    if place == "half of the copy":
        code = (
            "import os, shutil, sys; from pathlib import Path; from cm_tui.engine.api.engine import Engine\n"
            "def half(file, new):\n"
            "    new.write_bytes(file.read_bytes()[:10_000]); os._exit(9)\n"
            "from cm_tui.engine.platform.store import rewrite\n"
            "rewrite.shutil = type('', (), {'copyfile': half}); Engine.open(Path(sys.argv[1]))\n"
        )
        assert run_python(code, str(root)).returncode == 9
    else:
        at = (shutil, "copy2") if place == "copy of a small file" else (Identity, "write_manifest")
        with monkeypatch.context() as patch:
            patch.setattr(*at, killed)
            with pytest.raises(Killed):
                Engine.open(root)
    assert projects.store_of(root) == trees.store, "it has none yet"
    (paths.worktree_store(trees.store, root) / "store.duckdb.wal").write_bytes(b"of another one")
    with Engine.open(root) as engine:
        assert engine.store == paths.worktree_store(trees.store, root) == projects.store_of(root)
        list(engine.index())
        assert {row.name for row in engine.symbols().rows if "_in_" in row.name} == own_names(root)
        assert all(check.state != "failed" for check in engine.doctor(full=True))
    assert not [file for file in engine.store.iterdir() if file.name.startswith(".")]


def test_nothing_that_is_erased_or_reset_stays_in_a_copy(trees: Trees, daemon: Daemon) -> None:
    record(trees.main)
    daemon.index(trees.main)
    runs_of_a_round(trees, daemon)
    for root in trees.roots:
        assert daemon.call(root, "search", query="Graustark", profile="memory").hits, root.name
    (episode,) = daemon.call(trees.roots[1], "episodes").rows
    daemon.pool.close()
    assert len(holding_secret()) > len(trees.roots), "the journal, and each store"
    daemon.call(trees.roots[1], "erase", names=[episode.id])
    assert holding_secret() == []
    runs_of_a_round(trees, daemon)
    for root in trees.roots:
        assert not daemon.call(root, "search", query="Graustark", profile="memory").hits, root.name
    assert runs_of_a_round(trees, daemon) == []
    root, before = trees.roots[1], worktree_stores.copies_of(trees.store)
    for rebuilt in (root, trees.main):
        daemon.dispatcher.start("rebuild", ProjectRef(str(rebuilt)), {}).wait()
        assert worktree_stores.copies_of(trees.store) == before
        assert runs_of_a_round(trees, daemon) == []
    daemon.call(root, "reset")
    assert projects.all_stores() == []
    with pytest.raises(NotFoundError):
        daemon.call(root, "definitions", name="only_in_one")


def test_erasing_without_a_daemon_goes_on_with_the_projects_store(trees: Trees) -> None:
    record(trees.main)
    for root in trees.roots[:2]:
        with Engine.open(root) as engine:
            list(engine.index())
            (episode,) = engine.episodes().rows
    with Engine.open(trees.roots[1]) as engine:
        engine.erase([episode.id])
        assert engine.store == trees.store
    assert holding_secret() == []


def test_a_scan_for_secrets_reads_the_index_of_each_worktree(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CM_DAEMON__USE", "never")
    record(trees.main)
    for root in trees.roots:
        with Engine.open(root) as engine:
            list(engine.index())
    assert secrets_of(trees.main).findings == ()
    with closing(Database(paths.worktree_store(trees.store, trees.roots[1]))) as db:
        db.execute("UPDATE passage SET text = ? WHERE blob IS NULL", [GITHUB])
    for root in trees.roots:
        assert [one.place for one in secrets_of(root).findings] == ["index"], root.name


def test_a_history_is_not_read_in_each_copy(trees: Trees, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    wants = True
    monkeypatch.setattr(Engine, "wants_history", lambda _: wants)
    monkeypatch.setattr(daemon.dispatcher._work, "catch_up", lambda _: None)
    runs_of_a_round(trees, daemon)
    assert worktree_stores.copies_of(trees.store) == [], "they share it meanwhile, each with its own answers"
    wants = False
    daemon.pool._clock.advance(60.0)
    runs_of_a_round(trees, daemon)
    runs_of_a_round(trees, daemon)
    assert runs_of_a_round(trees, daemon) == []


def test_their_number_is_limited(trees: Trees, daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree_stores, "MOST", 1)
    runs_of_a_round(trees, daemon)
    (copy,) = worktree_stores.copies_of(trees.store)
    assert "two" in runs_of_a_round(trees, daemon), "it shares the project's, as its own has no room"
    os.utime(copy / paths.STORE_MANIFEST, (0, 0))
    daemon.pool._clock.advance(60.0)
    for root in (trees.main, trees.roots[2]):
        ask(daemon, root)
    assert len(copies := worktree_stores.copies_of(trees.store)) == 1
    assert copies != [copy], "it made room"
    trees.runs.clear()
    for root in (trees.main, trees.roots[2]):
        ask(daemon, root)
    assert trees.runs == []


def test_what_is_open_is_not_copied(trees: Trees, daemon: Daemon, tmp_path: Path) -> None:
    with daemon.pool.acquire(ProjectRef(str(trees.main))), pytest.raises(StoreError, match="open in this process"):
        rewrite.copy_store(trees.store, tmp_path)
