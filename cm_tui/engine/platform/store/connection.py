"""Opening a store's file: DuckDB's settings, and possible errors."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import duckdb

from cm_tui.engine.platform.store.failures import unopened
from cm_tui.errors import StoreError
from cm_tui.paths import private_dir

FORMAT = "v1.3.0"
"""First format that stores repeated texts once: docstrings of many versions of a file make a third of a store."""

SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": FORMAT,
    # In DuckDB 1.5 it forgets that rows were deleted: `ORDER BY … LIMIT` then leaves out rows that came after them.
    "disabled_optimizers": "row_group_pruner",
    # Most statements take less than a millisecond: handing one to several threads costs more than it gains
    # (queries of a project of 1,600 files: 47 → 32 ms of processor time each, an index run 9.4 → 8.2 s).
    "threads": 1,
}


def can_only_be_read(file: Path) -> bool:
    """Return whether an existing store cannot be written: its file, or the folder for the log next to it."""
    may_write = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK | os.X_OK)
    return os.path.isfile(file) and not may_write  # noqa: PTH113 - an inaccessible path is no file


def connect(file: Path, *, for_reading: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a store's file, made when missing unless it is only to be read.

    Raises StoreBusyError if another process has it; StoreDamagedError if it is truncated, or no database; StoreError if
    its folder cannot be made.
    """
    try:
        private_dir(file.parent)
        connection = duckdb.connect(str(file), config=SETTINGS, read_only=for_reading)
    except OSError as error:
        raise StoreError(
            f"Cannot make {file.parent}: {error}", hint="Set CM_HOME to a folder you can write."
        ) from error
    except duckdb.Error as error:
        raise unopened(file, error) from error
    if not for_reading:
        # DuckDB creates it with the process's mask. In another user's folder the mode is left to the owner.
        with suppress(PermissionError):
            file.chmod(0o600)
    return connection


def connect_in_memory() -> duckdb.DuckDBPyConnection:
    """Open an in-memory database, which ends with its connection."""
    return duckdb.connect(config=SETTINGS)
