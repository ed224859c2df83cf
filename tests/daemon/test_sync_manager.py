"""The daemon keeps indexes fresh by itself: nobody sees a state that is older than their last save."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cm_tui.daemon import bootstrap
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.sync_manager import SyncManager
from cm_tui.engine.code.index.index_run import IndexOutcome
from cm_tui.errors import NotFoundError, NotIndexedError
from cm_tui.model import IndexSummary
from tests.cli.conftest import git
from tests.daemon.conftest import make_project, until

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

NEW = "def find_the_giraffe():\n    return 1\n"


@pytest.fixture
def engine(owned: Path, tmp_path: Path) -> Iterator[Engine]:
    """Of an indexed project, through a daemon that keeps it."""
    engine = open_engine(make_project(tmp_path / "shop"))
    for _ in engine.index():
        pass
    assert engine.search("tax").hits
    yield engine
    engine.close()


def layer(engine: Engine, name: str):
    return next(layer for layer in engine.freshness().layers if layer.name == name)


def is_defined(engine: Engine, name: str) -> bool:
    try:
        return bool(engine.definitions(name).rows)
    except NotFoundError:
        return False


def test_a_save_is_in_the_next_answer(engine: Engine):
    until(lambda: not engine.freshness().behind)
    (engine.root / "zoo.py").write_text(NEW)
    assert is_defined(engine, "find_the_giraffe")
    (engine.root / "zoo.py").unlink()
    assert not is_defined(engine, "find_the_giraffe")


def test_a_save_is_indexed_though_nobody_asks(engine: Engine):
    until(lambda: layer(engine, "watcher").state == "on" and not engine.freshness().behind)
    runs = engine.freshness().runs
    (engine.root / "zoo.py").write_text(NEW)
    until(lambda: engine.freshness().runs > runs)
    # Symbols of a file are no question that looks at the disk first.
    assert "zoo.py" in [file.path for file in engine.files().rows]
    assert layer(engine, "watcher").did


def test_a_moved_head_is_in_the_next_answer(engine: Engine):
    git(engine.root, "checkout", "-q", "-b", "other")
    (engine.root / "zoo.py").write_text(NEW)
    git(engine.root, "add", "-A")
    git(engine.root, "commit", "-q", "-m", "giraffe")
    assert is_defined(engine, "find_the_giraffe")
    git(engine.root, "checkout", "-q", "-")
    assert not is_defined(engine, "find_the_giraffe")


def test_what_was_never_indexed_is_not_kept(owned: Path, tmp_path: Path):
    root = make_project(tmp_path / "shop")
    with pytest.raises(NotIndexedError):
        open_engine(root, create=False)
    bootstrap.start_daemon()
    assert bootstrap.notify(root)
    engine = open_engine(root)
    with pytest.raises(NotIndexedError):
        engine.freshness()
    assert engine.search("tax").hits == ()
    with pytest.raises(NotIndexedError):
        engine.freshness()
    engine.close()


def test_a_folder_that_became_a_link_leads_no_agent_out(engine: Engine, tmp_path: Path):
    """No question reads through the link: source is what was indexed, and gone with the next question about now."""
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/cart.py").write_text("SECRET = 1\n")
    until(lambda: not engine.freshness().behind)
    (engine.root / "shop").rename(tmp_path / "before")
    (engine.root / "shop").symlink_to(tmp_path / "secrets")
    kept = engine.source("shop/cart.py")
    assert kept.kept
    assert "SECRET" not in kept.text
    assert not is_defined(engine, "add_tax")
    with pytest.raises(NotFoundError, match="not in the index"):
        engine.source("shop/cart.py")
    assert "shop/cart.py" not in [file.path for file in engine.files().rows]
    assert ("shop", "symbolic link") in [(file.path, file.reason) for file in engine.skipped().rows]
    (engine.root / "README.md").unlink()
    (engine.root / "README.md").symlink_to(tmp_path / "secrets/cart.py")
    kept = engine.source("README.md")
    assert kept.kept
    assert "SECRET" not in kept.text
    assert not is_defined(engine, "SECRET")
    with pytest.raises(NotFoundError):
        engine.source("README.md")


def test_before_the_first_question_it_says_when_it_will_watch(owned: Path, tmp_path: Path):
    with open_engine(make_project(tmp_path / "shop")) as engine:
        for _ in engine.index():
            pass
        assert layer(engine, "watcher").note == "watches from the first question on"
        engine.search("tax")
        until(lambda: layer(engine, "watcher").state == "on")


def test_before_the_first_comparison_it_claims_nothing(owned: Path, tmp_path: Path):
    del owned
    root = make_project(tmp_path / "shop")
    asked, go_on = threading.Event(), threading.Event()

    def run_index(*_: object) -> None:
        asked.set()
        assert go_on.wait(60)

    manager = SyncManager(run_index)
    manager.begin(root, tmp_path / "store")
    assert asked.wait(60)
    note = manager.before_query(root, tmp_path / "store", 0.0)
    go_on.set()
    manager.close()
    assert note == "The files are being compared with the index: changes since its last run may be missing."


def test_what_a_requested_run_has_read_is_not_read_again(owned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`cm index`, then a question: nothing is behind, so nothing is run, and nothing is noted."""
    del owned
    root, store, runs = make_project(tmp_path / "shop"), tmp_path / "store", list[list[str]]()
    files = [
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file() and ".git" not in path.parts
    ]
    for file in files:
        os.utime(root / file, (1_000_000_000, 1_000_000_000))
    # What was written in this moment is not known to have been read.
    monkeypatch.setattr("cm_tui.engine.code.freshness.staleness._COARSE_NS", -60_000_000_000)

    def run_index(_root: Path, paths: Sequence[str], _wanted: object) -> IndexOutcome:
        runs.append(list(paths))
        return outcome

    outcome = IndexOutcome(IndexSummary(0, 0, 0, 0, 0, 0, {}, {}), files, ())
    manager = SyncManager(run_index)
    manager.compare(root, store)(outcome)
    manager.begin(root, store)
    assert manager.before_query(root, store, 60.0) == ""
    assert runs == []
    (root / "shop/cart.py").write_text("x = 1\n")
    end = manager.compare(root, store)
    end(outcome)
    assert manager.before_query(root, store, 60.0) == ""
    assert runs == []
    (root / "shop/cart.py").write_text("x = 12\n")
    assert manager.before_query(root, store, 60.0) == ""
    assert runs == [["shop/cart.py"]]
    # Another checkout of the store has other files, and the store has those of the other one.
    manager.drop(store)
    manager.compare(root, store)(outcome)
    manager.begin(make_project(tmp_path / "other"), store)
    assert manager.before_query(tmp_path / "other", store, 60.0) == ""
    assert runs[1:] == [[]]
    manager.close()
