"""New stores in tests: copies of an empty one, which is made once in a process by all migrations.

Making one takes longer than most tests. The copy is the file that the migrations leave behind; only where a store is
new, in an existing folder or not, and the migrations are those of the product.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest

from cm_tui.engine.platform.store import connection, database, schema
from cm_tui.errors import StoreError
from cm_tui.paths import STORE_DATABASE, private_dir

_empty: list[bytes] = []


def apply(patch: pytest.MonkeyPatch) -> None:
    """Have new stores begin as a copy."""
    migrations = schema.migrations

    def connect(file: Path, *, for_reading: bool = False) -> duckdb.DuckDBPyConnection:
        if not for_reading and schema.migrations is migrations and not os.path.lexists(file):
            _begin(file)
        return connection.connect(file, for_reading=for_reading)

    patch.setattr(database, "connect", connect)


def _begin(file: Path) -> None:
    """Put the empty store in a place, unless something is there or cannot be: opening it then tells what is wrong."""
    if os.path.lexists(file.with_name(database.LOG)):
        return
    with suppress(OSError, StoreError):
        private_dir(file.parent)
        handle, name = tempfile.mkstemp(prefix=".empty-", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as copy:
                copy.write(_content())
            # At once, and never over the store of another process.
            os.link(name, file)
        finally:
            Path(name).unlink()


def _content() -> bytes:
    if not _empty:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "connect", connection.connect)
            database.Database(Path(folder)).close()
            _empty.append((Path(folder) / STORE_DATABASE).read_bytes())
    return _empty[0]
