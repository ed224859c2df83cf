"""The watcher on a real file system: what the walk ignores does not wake it, and nothing ends it."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
import watchfiles
from watchfiles._rust_notify import RustNotify

from cm_tui.config import Config
from cm_tui.engine.code.freshness.scheduler import EVERYTHING, Changes, path_filter
from cm_tui.engine.code.freshness.watcher import Watcher
from cm_tui.engine.memory.notes import scan
from tests.engine.freshness.waiting import SECONDS, until
from tests.gitrepo import Repo


class Watched:
    """A repository that is watched, and what was told."""

    def __init__(self, root: Path, **settings) -> None:
        self.repo = Repo(root)
        self.repo.write(".gitignore", "ignored/\n*.tmp\n")
        # Polling compares whole seconds.
        os.utime(self.repo.write("a.py", "x = 1\n"), (1_700_000_000, 1_700_000_000))
        self.repo.write("forced.tmp", "x\n")
        self.repo.git("add", "-f", "forced.tmp")
        self.repo.commit("one")
        self.told: list[Changes] = []
        self.watcher = Watcher(root, self._make_filter, self.told.append, **settings)
        self.watcher.start()
        assert self.watcher.wait_until_watching(SECONDS)

    def _make_filter(self):
        return path_filter(self.repo.root, self.repo.root.parent / "shadow", Config())

    def paths(self) -> set[str]:
        """All that was told by name."""
        return set().union(*(changes.paths or () for changes in self.told))

    def nothing_but(self, path: str) -> None:
        """Make one last change, and see that it is all that is told."""
        self.repo.write(path, "last\n")
        until(lambda: path in self.paths())
        assert self.paths() == {path}
        assert EVERYTHING not in self.told


@pytest.fixture
def watch(tmp_path: Path):
    made: list[Watched] = []

    def start(**settings) -> Watched:
        made.append(Watched(tmp_path / "mein größtes repo", **settings))
        return made[-1]

    yield start
    for one in made:
        one.watcher.stop()


@pytest.mark.parametrize("polling", [False, True])
def test_changes_are_told_once_by_their_paths(watch, polling: bool):
    watched = watch(polling=polling)
    watched.repo.write("a.py", "x = 2\n")
    watched.repo.write("pkg/neu 日本.py", "y\n")
    # A new folder may be told without what was put into it at once: it stands for all below it.
    until(lambda: "a.py" in watched.paths() and {"pkg", "pkg/neu 日本.py"} & watched.paths())
    state = watched.watcher.state
    assert (state.state, state.mode) == ("on", "polling" if polling else "native")
    assert state.fired_at is not None
    assert state.did.startswith("reported")


def test_what_the_walk_ignores_is_not_told(watch):
    watched = watch()
    for path in ("ignored/x.py", "b.tmp", "node_modules/m/i.js", "__pycache__/a.pyc", ".venv/lib/x.py", "x.lock.png"):
        watched.repo.write(path, "x")
    watched.repo.git("status")
    watched.nothing_but("seen.py")


def test_what_git_tracks_is_told_although_it_is_ignored(watch):
    watched = watch()
    watched.nothing_but("forced.tmp")


def test_a_nested_repository_and_what_lies_below_a_link_are_not_told(watch, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    watched = watch()
    inner = Repo(watched.repo.root / "ignored" / "inner")
    (watched.repo.root / "link.tmp").symlink_to(elsewhere)
    inner.write("x.py", "x")
    (elsewhere / "y.py").write_text("y")
    watched.nothing_but("seen.py")


def test_head_and_rules_mean_everything(watch):
    watched = watch()
    watched.repo.git("commit", "-q", "--allow-empty", "-m", "two")
    until(lambda: EVERYTHING in watched.told)
    watched.told.clear()
    watched.repo.write(".gitignore", "other/\n")
    until(lambda: EVERYTHING in watched.told)
    watched.told.clear()
    watched.repo.write("ignored/now seen.py", "x")
    # As above, the new folder may be told for what is in it.
    until(lambda: {"ignored", "ignored/now seen.py"} & watched.paths() or EVERYTHING in watched.told)


def test_a_folder_that_is_removed_and_made_again(watch):
    watched = watch()
    root = watched.repo.root
    shutil.rmtree(root)
    until(lambda: "no longer exists" in watched.watcher.state.note)
    assert watched.watcher.state.state == "failed"
    watched.told.clear()
    repo = Repo(root)
    until(lambda: watched.watcher.state.state == "on")
    until(lambda: EVERYTHING in watched.told)
    repo.write("new.py", "x")
    until(lambda: "new.py" in watched.paths())


def test_a_folder_that_is_replaced_at_once(watch, tmp_path: Path):
    watched = watch()
    root = watched.repo.root
    root.rename(tmp_path / "before")
    repo = Repo(root)
    until(lambda: EVERYTHING in watched.told)
    until(lambda: watched.watcher.state.state == "on")
    repo.write("new.py", "x")
    until(lambda: "new.py" in watched.paths())


def test_it_polls_and_says_so_where_the_system_cannot_watch(watch, monkeypatch: pytest.MonkeyPatch):
    def limited(paths, debug, polling, *settings):
        if not polling:
            raise OSError(28, "OS file watch limit reached")
        return RustNotify(paths, debug, polling, *settings)

    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", limited)
    watched = watch()
    state = watched.watcher.state
    assert (state.state, state.mode) == ("on", "polling")
    assert "watch limit" in state.note
    watched.repo.write("a.py", "longer than before\n")
    until(lambda: EVERYTHING in watched.told or "a.py" in watched.paths())


def test_a_question_is_told_of_what_the_thread_has_not_even_taken(watch, sleepy: None):
    watched = watch()
    watched.repo.write("a.py", "x = 2\n")
    watched.repo.write("ignored/b.py", "x = 2\n")
    assert watched.told == []
    # The system may hand it over in pieces, and what was written before the start with them.
    until(lambda: watched.watcher.drain() or "a.py" in watched.paths())
    assert "ignored/b.py" not in watched.paths()


def test_a_question_sleeps_while_it_looks(watch):
    """With steps of nothing, the system's library takes the processor all the time."""
    looks: list[tuple[int, int]] = []

    class Events:
        def watch(self, debounce: int, step: int, timeout: int, stop: object) -> str:
            looks.append((step, timeout))
            return "timeout"

    watched, notes = watch(), scan._Watched()
    watched.watcher._events = notes._events = Events()
    watched.watcher.drain()
    assert notes._changed_files() == set()
    assert looks == [(1, 1), (1, 1)]


def test_a_question_waits_for_what_is_being_told(watch):
    watched = watch()
    telling, go_on = threading.Event(), threading.Event()

    def slowly(changes: Changes) -> None:
        telling.set()
        assert go_on.wait(SECONDS)
        watched.told.append(changes)

    watched.watcher._on_change = slowly
    watched.repo.write("a.py", "x = 2\n")
    assert telling.wait(SECONDS)
    drained = threading.Thread(target=watched.watcher.drain)
    drained.start()
    go_on.set()
    drained.join(SECONDS)
    assert "a.py" in watched.paths()


def test_it_stops_from_any_thread_and_starts_again(watch):
    watched = watch()
    stopper = threading.Thread(target=watched.watcher.stop)
    stopper.start()
    stopper.join(SECONDS)
    assert watched.watcher.state.state == "off"
    watched.repo.write("unseen.py", "x")
    watched.watcher.start()
    assert watched.watcher.wait_until_watching(SECONDS)
    watched.nothing_but("seen.py")
