"""Store of a project in DuckDB: opening, migrations, transactions."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb

from cm_tui.errors import StoreBusyError, StoreDamagedError, StoreError, StoreTooNewError, UsageError
from cm_tui.paths import private_dir

# DuckDB looks for these at every parameter and every table that it is given, and a look that fails walks the whole
# import path: 0.1 ms each, most of a warm query. For a name that is known to be absent, Python says so at once.
sys.modules.update({name: None for name in ("pandas", "pyarrow") if find_spec(name) is None})  # type: ignore[misc]

FILE = "store.duckdb"
_FORMAT = "v1.3.0"
"""First format that keeps repeated texts once: docstrings of many versions of a file make a third of a store."""
_REBUILD = "Run `cm rebuild` to make it again."
_DAMAGED = re.compile(r"not a valid DuckDB database|truncat|corrupt|checksum|read enough bytes", re.IGNORECASE)
_UNWRITABLE = re.compile(r"could not (?:write|sync|allocate|move)|no space left|file too large", re.IGNORECASE)


class Database:
    """Store of one project.

    Each thread works on its own cursor of the one connection; `transaction` serialises writers.

    Args:
        folder: the project's folder below the data folder; made when missing.

    Raises:
        StoreBusyError: another process has it; the message names it.
        StoreDamagedError: the file is truncated or not a database.
        StoreTooNewError: written by a newer cm.
        StoreError: it cannot be made, read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE
        self._connection = _connect(self.file)
        self._cursors = threading.local()
        self._writer = threading.RLock()
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    @property
    def cursor(self) -> duckdb.DuckDBPyConnection:
        """This thread's cursor."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._cursors, "value", None)
        if cursor is None:
            cursor = self._connection.cursor()
            self._cursors.value = cursor
        return cursor

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with _explained(self.file):
            return self.cursor.execute(sql, list(parameters)).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        with _explained(self.file):
            row = self.cursor.execute(sql, list(parameters)).fetchone()
        return None if row is None else row[0]

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement whose rows nobody needs."""
        with _explained(self.file):
            self.cursor.execute(sql, list(parameters))

    @contextmanager
    def transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Hold a transaction, all or nothing; nested calls join the outer one.

        Raises:
            StoreError: the disk is full or the store cannot be written.
        """
        with self._writer:
            if getattr(self._cursors, "depth", 0):
                yield self.cursor
                return
            self._cursors.depth = 1
            try:
                with _explained(self.file):
                    self.cursor.execute("BEGIN")
                    yield self.cursor
                    self.cursor.execute("COMMIT")
            except BaseException:
                self._rollback()
                raise
            finally:
                self._cursors.depth = 0

    def shrink(self) -> None:
        """Let the file shrink to what is in it; while somebody else writes, that is left to the next checkpoint."""
        with _explained(self.file), suppress(duckdb.TransactionException):
            self.cursor.execute("CHECKPOINT")

    def _rollback(self) -> None:
        try:
            self.cursor.execute("ROLLBACK")
        except duckdb.Error:
            # After a fatal error there is no transaction left to roll back; DuckDB has discarded it.
            return

    def insert(self, table: str, columns: dict[str, Sequence[Any]], types: dict[str, Any]) -> None:
        """Insert many rows, column by column, through one Arrow table.

        Args:
            table: name of the table.
            columns: values by column name, all of one length.
            types: `arro3.core.DataType` by column name.
        """
        if not columns or not len(next(iter(columns.values()))):
            return
        from arro3.core import Array, Table

        arrow = Table.from_pydict({name: Array(list(values), type=types[name]) for name, values in columns.items()})
        names = ", ".join(f'"{name}"' for name in columns)
        cursor = self.cursor
        cursor.register("incoming_rows", arrow)
        try:
            cursor.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM incoming_rows')  # noqa: S608 - our own names
        finally:
            cursor.unregister("incoming_rows")

    def get_meta(self, key: str) -> str | None:
        """Return a fact that the store remembers about itself."""
        value: str | None = self.value("SELECT value FROM meta WHERE key = ?", [key])
        return value

    def set_meta(self, key: str, value: str) -> None:
        """Remember a fact about the store."""
        with self.transaction() as cursor:
            cursor.execute("DELETE FROM meta WHERE key = ?", [key])
            cursor.execute("INSERT INTO meta VALUES (?, ?)", [key, value])

    def close(self) -> None:
        """Write everything down and let go of the file."""
        self._connection.close()

    def _migrate(self) -> None:
        scripts = _migrations()
        exists = self.value("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'meta'")
        current = int(self.get_meta("schema") or 0) if exists else 0
        newest = scripts[-1][0]
        if current > newest:
            raise StoreTooNewError(
                f"{self.file} has schema {current}; this cm knows {newest}.",
                hint="Update cm, or make the index again with `cm rebuild`.",
            )
        for number, sql in scripts:
            if number > current:
                with self.transaction() as cursor:
                    cursor.execute(sql)
                    self.set_meta("schema", str(number))


def refuse_busy(folder: Path) -> None:
    """Stop when another process has the store of a folder; a damaged one is nobody's.

    Raises:
        StoreBusyError: the message names the process.
    """
    file = folder / FILE
    if not file.exists():
        return
    try:
        _connect(file).close()
    except StoreBusyError:
        raise
    except StoreError:
        return


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn what DuckDB raises when the file fails, or a value is no text, into words; mistakes in SQL stay what they are."""
    try:
        yield
    except RuntimeError as error:
        if "Unable to cast" not in str(error):
            raise
        # A word of the command line with odd bytes (they arrive as lone surrogates); nothing in the store has such a name.
        raise UsageError(
            "That name or path is not valid UTF-8.", hint="Files with such names are not indexed."
        ) from error
    except duckdb.Error as error:
        told = _failure(file, error)
        if told is None:
            raise
        raise told from error


def _failure(file: Path, error: duckdb.Error) -> StoreError | None:
    text = str(error)
    if _DAMAGED.search(text) or isinstance(error, duckdb.SerializationException):
        return StoreDamagedError(f"{file} is damaged: {text}", hint=_REBUILD)
    if isinstance(
        error, duckdb.IOException | duckdb.FatalException | duckdb.OutOfMemoryException
    ) or _UNWRITABLE.search(text):
        return StoreError(
            f"Cannot write {file}: {text}",
            hint="Free some space or check its permissions, then run the command again.",
        )
    return None


_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "storage_compatibility_version": _FORMAT,
    # In DuckDB 1.5 it forgets that rows were deleted: `ORDER BY … LIMIT` then leaves out rows that came after them.
    "disabled_optimizers": "row_group_pruner",
}


def _connect(file: Path) -> duckdb.DuckDBPyConnection:
    try:
        private_dir(file.parent)
        connection = duckdb.connect(str(file), config=_SETTINGS)
    except OSError as error:
        raise StoreError(
            f"Cannot make {file.parent}: {error}", hint="Set CM_HOME to a folder you can write."
        ) from error
    except duckdb.IOException as error:
        raise _explain(file, error) from error
    except duckdb.Error as error:
        raise StoreDamagedError(f"{file} is damaged: {error}", hint=_REBUILD) from error
    # DuckDB makes it as the process's mask has it. In the folder of somebody else it is theirs to say.
    with suppress(PermissionError):
        file.chmod(0o600)
    return connection


def _explain(file: Path, error: duckdb.IOException) -> StoreError | StoreBusyError:
    text = str(error)
    if re.search(r"\block\b", text, re.IGNORECASE):
        holder = re.search(r"held in (.+?)\s*\(PID (\d+)\)", text)
        who = f"process {holder[2]} ({holder[1]})" if holder else "another process"
        return StoreBusyError(f"The index in {file.parent} is in use by {who}.", hint="Close it, then try again.")
    if _DAMAGED.search(text):
        return StoreDamagedError(f"{file} is damaged: {text}", hint=_REBUILD)
    return StoreError(f"Cannot open {file}: {text}", hint="Check its permissions and free space.")


def _migrations() -> list[tuple[int, str]]:
    folder = resources.files("cm_tui.engine.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(int(f.name[:4]), f.read_text(encoding="utf-8")) for f in files]
