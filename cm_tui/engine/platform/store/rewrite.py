"""Rewriting a store's file without its deleted data."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import duckdb

from cm_tui.engine.platform.store.connection import FORMAT, SETTINGS, SPILLED, connect
from cm_tui.engine.platform.store.failures import explained
from cm_tui.errors import StoreBusyError, StoreError
from cm_tui.files import PRIVATE, remove_left_overs, replacing
from cm_tui.paths import STORE_DATABASE


def rewrite_store(folder: Path) -> None:
    """Copy a closed store into a new file in its place, without deleted data.

    Raises StoreBusyError if another process has it; StoreError if it cannot be read, or there is no space for a second
    one.
    """
    file = folder / STORE_DATABASE
    spilled = folder / (STORE_DATABASE + SPILLED)
    refuse_busy(folder)
    remove_left_overs(file)
    try:
        with (
            explained(file),
            replacing(file, durable=True) as successor,
            closing(duckdb.connect(config={**SETTINGS, "temp_directory": str(spilled)})) as db,
        ):
            successor.unlink()
            for name, path, options in (("old", file, ""), ("new", successor, f" (STORAGE_VERSION '{FORMAT}')")):
                _attach(db, name, path, options)
            db.execute("COPY FROM DATABASE old TO new")
            db.execute("DETACH old")
            db.execute("DETACH new")
            successor.chmod(PRIVATE)
        # DuckDB removes it when it closes the file, unless the file was replaced.
        file.with_name(f"{STORE_DATABASE}.wal").unlink(missing_ok=True)
        shutil.rmtree(spilled, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"Cannot rewrite {file}: {error}", hint="Free some space.") from error


def copy_store(folder: Path, target: Path) -> None:
    """Copy a closed store's file into another folder, as it is.

    Raises StoreBusyError if another process has it; StoreError if it cannot be read, or this process has it open;
    OSError if it cannot be written.
    """
    file, copy = folder / STORE_DATABASE, target / STORE_DATABASE
    with explained(file), replacing(copy, durable=True) as new, closing(duckdb.connect(config=SETTINGS)) as db:
        try:
            _attach(db, "old", file)
        except duckdb.BinderException as error:
            raise StoreError(f"{file} is open in this process.", hint="Try again.") from error
        # The log's changes, too. While it is attached, no other process opens it.
        db.execute("CHECKPOINT old")
        shutil.copyfile(file, new)


def _attach(db: duckdb.DuckDBPyConnection, name: str, file: Path, options: str = "") -> None:
    quoted = str(file).replace("'", "''")
    db.execute(f"ATTACH '{quoted}' AS {name}{options}")


def refuse_busy(folder: Path) -> None:
    """Raise when another process has the store of a folder open; a damaged store has no owner.

    Raises StoreBusyError: the message names the process.
    """
    file = folder / STORE_DATABASE
    if not file.exists():
        return
    try:
        connect(file).close()
    except StoreBusyError:
        raise
    except StoreError:
        return
