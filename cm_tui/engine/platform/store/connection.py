"""Opening a store's file: DuckDB's settings, and possible errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb

from cm_tui.engine.platform.store.failures import unopened
from cm_tui.errors import StoreError
from cm_tui.paths import private_dir

# --- DuckDB's full-text extension ---


def extension_file() -> Path | None:
    """Return the bundled extension for this version of DuckDB."""
    try:
        folder = resources.files("duckdb_extension_fts") / "extensions"
    except ModuleNotFoundError:
        return None
    file = Path(str(folder)) / f"v{duckdb.__version__}" / "fts.duckdb_extension"
    return file if file.is_file() else None


def load_fts(connection: duckdb.DuckDBPyConnection) -> str:
    """Load the extension: the bundled one, else one that DuckDB has installed before.

    Returns its origin. Raises StoreError if neither exists. Keyword search does not need it; `match_bm25` in the user's
    own SQL does.
    """
    file = extension_file()
    try:
        if file is not None:
            quoted = str(file).replace("'", "''")
            connection.execute(f"LOAD '{quoted}'")
            return f"fts {duckdb.__version__}, from the installation"
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute("LOAD fts")
    except duckdb.Error as error:
        raise StoreError(
            f"DuckDB's full-text extension for {duckdb.__version__} cannot be loaded: {error}",
            hint="pip install duckdb-extension-fts, in the same version as duckdb.",
        ) from error
    return f"fts {duckdb.__version__}, installed before"


# --- one thread's access to a store: DuckDB's cursor, with its failures raised as store errors ---

Explained = Callable[[], AbstractContextManager[None]]


_EXECUTE = compile("execute(sql) if parameters is None else execute(sql, parameters)", "rows by name", "eval")
"""DuckDB finds rows by name among the variables of its caller: sooner than in a view, which it would plan and drop."""


class _Rows:
    """Rows to read under a name: DuckDB holds a named object until its transaction ends, so it has to lose them before."""

    def __init__(self, rows: Any) -> None:
        if isinstance(rows, dict):
            from arro3.core import Array, Table

            rows = Table.from_pydict({name: Array.from_numpy(values) for name, values in rows.items()})
        self.rows = rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.rows.__arrow_c_stream__(requested_schema)


class Cursor:
    """A cursor of DuckDB.

    A damaged block is detected when it is read, which may be in any of these calls: each of them raises it as a store
    error. `raw`: DuckDB's own; `explained`: turns DuckDB's errors into store errors.
    """

    def __init__(self, raw: duckdb.DuckDBPyConnection, explained: Explained) -> None:
        self._raw = raw
        self._explained = explained
        self.facts: dict[str, str] | None = None
        """The store's facts in the current transaction; None: not read yet."""
        self.new_facts: dict[str, str] = {}
        """Those that its transaction has not written yet."""
        self._named: dict[str, _Rows] = {}

    def execute(self, sql: str, parameters: Any = None) -> Cursor:
        """Run a statement; its rows are fetched from this cursor."""
        # Without parameters a text may hold several statements.
        call = {"execute": self._raw.execute, "sql": sql, "parameters": parameters, **self._named}
        with self._explained():
            eval(_EXECUTE, call)  # noqa: S307 - our own code
        return self

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.execute(sql, parameters if isinstance(parameters, Mapping) else list(parameters)).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all of a block or nothing; the transaction is not part of a generation.

        Raises StoreError if the disk is full or the store cannot be written.
        """
        self.execute("BEGIN")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            self.execute("ROLLBACK")
            raise

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        with self._explained():
            return self._raw.fetchall()

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, or None."""
        with self._explained():
            row: tuple[Any, ...] | None = self._raw.fetchone()
            return row

    def fetchnumpy(self) -> Any:
        """Return all rows, as an array a column."""
        with self._explained():
            return self._raw.fetchnumpy()

    def register(self, view: str, rows: Any) -> None:
        """Make rows, an Arrow table or arrays by name, readable by this cursor's queries under a name."""
        self._named[view] = _Rows(rows)

    def unregister(self, view: str) -> None:
        """Take that name back."""
        self._named.pop(view).rows = None

    def interrupt(self) -> None:
        """End the query that another thread runs on it."""
        self._raw.interrupt()

    def close(self) -> None:
        """Close it; an open transaction is rolled back."""
        self._raw.close()


# --- opening a store's file ---

FORMAT = "v1.3.0"
"""First format that stores repeated texts once: docstrings of many versions of a file make a third of a store."""

_LEAST_BYTES, _SHARE = 512 << 20, 8


def _memory_limit() -> str:
    """Return the most that a store's cached blocks and queries may take: a share of the machine, up to twice the least."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        machine = 0
    return f"{min(max(machine // _SHARE, _LEAST_BYTES), 2 * _LEAST_BYTES) >> 20}MiB"


SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": FORMAT,
    # In DuckDB 1.5 it forgets that rows were deleted: `ORDER BY … LIMIT` then leaves out rows that came after them.
    "disabled_optimizers": "row_group_pruner",
    # Most statements take less than a millisecond: handing one to several threads costs more than it gains
    # (queries of a project of 1,600 files: 47 → 32 ms of processor time each, an index run 9.4 → 8.2 s).
    "threads": 1,
    "memory_limit": _memory_limit(),
}
SPILLED = ".tmp"
"""Ending of the folder next to a store's file into which DuckDB writes what does not fit; left after a crash."""


def can_only_be_read(file: Path) -> bool:
    """Return whether an existing store cannot be written: its file, or the folder for the log next to it."""
    may_write = os.access(file, os.W_OK) and os.access(file.parent, os.W_OK | os.X_OK)
    return os.path.isfile(file) and not may_write  # noqa: PTH113 - an inaccessible path is no file


def connect(file: Path, *, for_reading: bool = False) -> duckdb.DuckDBPyConnection:
    """Open a store's file, made when missing unless it is only to be read.

    Raises StoreBusyError if another process has it; StoreDamagedError if it is truncated, or no database; StoreError if
    it or its folder cannot be made.
    """
    is_new = not for_reading and not file.exists()
    try:
        private_dir(file.parent)
        connection = duckdb.connect(str(file), config=SETTINGS, read_only=for_reading)
    except OSError as error:
        raise StoreError(
            f"Cannot make {file.parent}: {error}", hint="Set CM_HOME to a folder you can write."
        ) from error
    except duckdb.Error as error:
        raise unopened(file, error, is_new=is_new) from error
    if not for_reading:
        # What a killed process spilled may hold data that was erased since.
        shutil.rmtree(file.with_name(file.name + SPILLED), ignore_errors=True)
        # DuckDB creates it with the process's mask. In another user's folder the mode is left to the owner.
        with suppress(PermissionError):
            file.chmod(0o600)
    return connection


def connect_in_memory() -> duckdb.DuckDBPyConnection:
    """Open an in-memory database, which ends with its connection, and never writes into the current folder."""
    return duckdb.connect(config={**SETTINGS, "temp_directory": ""})
