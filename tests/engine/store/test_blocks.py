"""A store's file on disk: its checksums are DuckDB's own, and what is free may hold anything."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from cm_tui.engine.doctor.store_rows import read_everything
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
    try:
        db.release_blocks()
        read_everything(db)
    except StoreDamagedError as error:
        return error
    return None


def test_damage_on_disk_is_found_below_an_open_store_or_changes_nothing(folder: Path):
    file, rows = folder / "store.duckdb", "SELECT * FROM skipped ORDER BY ALL"
    original, found = file.read_bytes(), 0
    with closing(Database(folder)) as db:
        before = db.rows(rows)
    for number in range((len(original) - HEADERS) // BLOCK):
        # The store is open all the time: what DuckDB holds in memory does not hide what is on disk.
        with closing(Database(folder)) as db:
            assert harm(db) is None
            overwrite(file, HEADERS + number * BLOCK + 777, b"\x55\xaa\x55")
            error = harm(db)
            assert error.finding == "store-overwritten" if error is not None else db.rows(rows) == before, number
            found += error is not None
        file.write_bytes(original)
    assert found


def test_a_store_that_is_written_meanwhile_is_whole(folder: Path):
    with closing(Database(folder)) as db:
        for round_ in range(5):
            texts = [f"{round_} {number}" for number in range(5000)]
            with db.transaction():
                db.insert("skipped", {"path": texts, "reason": texts})
            assert harm(db) is None
            db.execute("CHECKPOINT")
            assert harm(db) is None
