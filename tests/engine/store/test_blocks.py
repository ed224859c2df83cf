"""A store's file on disk: its checksums are DuckDB's own, and what is free may hold anything."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.engine.platform.store import blocks
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import StoreDamagedError
from tests.damage import BLOCK, HEADERS, overwrite


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with blocks that are in use and blocks that are free."""
    folder = tmp_path / "store"
    with closing(Database(folder)) as db:
        for name in ("first", "second"):
            texts = [f"{name} {number * 7919:0100x}" for number in range(20_000)]
            with db.transaction():
                db.insert("skipped", {"path": texts, "reason": texts})
            db.execute("CHECKPOINT")
        with db.transaction():
            db.execute("DELETE FROM skipped WHERE path LIKE 'first%'")
        db.execute("CHECKPOINT")
    return folder


def harm(db: Database) -> StoreDamagedError | None:
    return blocks.examine(db.file, db.read_at, db.rows)


def test_a_whole_file_is_whole_and_each_block_in_use_counts(folder: Path):
    with closing(Database(folder)) as db:
        layout = blocks.read_layout(db.file, db.read_at)
        assert layout is not None
        assert (layout.block_size, layout.bytes) == (BLOCK, db.file.stat().st_size)
        assert harm(db) is None
        used = blocks.used_blocks(db.rows)
        assert 0 < len(used) <= layout.blocks
        # The store is open all the time: what DuckDB holds in memory does not hide what is on disk.
        original = db.file.read_bytes()
        for number in range(layout.blocks):
            overwrite(db.file, HEADERS + number * BLOCK + 777, b"\x55\xaa\x55")
            found = harm(db)
            assert (found is not None) == (number in used), number
            assert found is None or found.finding == "store-overwritten"
            db.file.write_bytes(original)
        assert harm(db) is None


@pytest.mark.process
def test_a_check_leaves_the_lock_that_keeps_other_processes_out(folder: Path):
    with closing(Database(folder)) as db:
        assert harm(db) is None
        connect = [sys.executable, "-c", "import duckdb, sys; duckdb.connect(sys.argv[1])", str(db.file)]
        assert "Conflicting lock" in subprocess.run(connect, capture_output=True, text=True, check=False).stderr


def test_a_store_that_is_written_meanwhile_is_whole(folder: Path):
    with closing(Database(folder)) as db:
        for round_ in range(5):
            texts = [f"{round_} {number}" for number in range(5000)]
            with db.transaction():
                db.insert("skipped", {"path": texts, "reason": texts})
            assert harm(db) is None
            db.execute("CHECKPOINT")
            assert harm(db) is None
