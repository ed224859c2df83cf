"""The tables of episodes in a store, written during index runs and read without waiting for them.

They are not part of a generation: a new episode is listed at once, whatever run is under way. In a read-only store they
are in memory while it is open.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from weakref import proxy

import duckdb

from cm_tui.engine.platform.store import memory, schema
from cm_tui.engine.platform.store.connection import SETTINGS
from cm_tui.engine.platform.store.cursor import Cursor
from cm_tui.engine.platform.store.database import Database

_MIGRATIONS = (5, 7, 10, 11, 12, 13)
_TYPES = {"DOUBLE": "float64", "INTEGER": "int32", "BIGINT": "int64", "BOOLEAN": "bool", "BLOB": "binary"}


class EpisodeTables:
    """The tables of one store. Threads read on their own cursors; one at a time writes.

    `db`: the store; None: they are in memory.
    """

    def __init__(self, db: Database | None) -> None:
        self._memory: duckdb.DuckDBPyConnection | None = None
        if db is None or db.is_read_only:
            self._memory = duckdb.connect(config=SETTINGS)
            for number, sql in schema.migrations():
                if number in _MIGRATIONS:
                    self._memory.execute(sql)
        self._db = None if db is None else proxy(db)
        self._cursors = threading.local()
        self.writer = threading.RLock()
        """Held while the journal is read into the tables."""
        self.narrator_pass = threading.Lock()
        """Held while the narrator looks at episodes."""
        self.position: tuple[Any, ...] | None = None
        """The row with the position in the journal; None: it has to be looked up."""

    @classmethod
    def of(cls, db: Database) -> EpisodeTables:
        """Return the tables that all who use a store share."""
        return db.shared("episode_tables", cls)

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""
        cursor: Cursor | None = getattr(self._cursors, "value", None)
        if cursor is None:
            cursor = self.open_cursor()
            self._cursors.value = cursor
        return cursor

    def open_cursor(self) -> Cursor:
        """Return another cursor with its own transactions."""
        if self._memory is not None:
            return Cursor(self._memory.cursor(), nullcontext)
        assert self._db is not None
        found: Cursor = self._db.open_cursor()
        return found

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.cursor.execute(sql, parameters if isinstance(parameters, Mapping) else list(parameters)).fetchall()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the first row of a query that has one."""
        return self.rows(sql, parameters)[0]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run all queries of this block on the same snapshot."""
        self.cursor.execute("BEGIN")
        try:
            yield
        finally:
            self.cursor.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write all of a block or nothing; the caller holds `writer`.

        Raises StoreError if the disk is full or the store cannot be written.
        """
        self.cursor.execute("BEGIN")
        try:
            yield
            self.cursor.execute("COMMIT")
        except BaseException:
            self.cursor.execute("ROLLBACK")
            raise

    def let_go_of_blocks(self) -> None:
        """Release the store's cached blocks of recent writes."""
        if self._memory is None and self._db is not None:
            self._db.let_go_of_blocks()
        memory.give_back()

    def settle(self) -> None:
        """Write everything to the file, which frees the memory of pending writes."""
        if self._memory is None and self._db is not None:
            self._db.shrink()
        self.let_go_of_blocks()

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert many rows, column by column, through one Arrow table."""
        if not columns or not len(next(iter(columns.values()))):
            return
        names = ", ".join(f'"{name}"' for name in columns)
        with self.given("incoming_episodes", columns, self._types(table)):
            self.cursor.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM incoming_episodes')  # noqa: S608 - our own names

    @contextmanager
    def given(self, view: str, columns: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> Iterator[None]:
        """Have queries of this block read rows under a name.

        `columns`: values by column name, all of one length; `types`: DuckDB's names of their types.
        """
        from arro3.core import Array, DataType, Table

        kinds = {name: getattr(DataType, _TYPES.get(types[name], "string"))() for name in columns}
        arrow = Table.from_pydict({name: Array(list(values), type=kinds[name]) for name, values in columns.items()})
        self.cursor.register(view, arrow)
        try:
            yield
        finally:
            self.cursor.unregister(view)

    def _types(self, table: str) -> dict[str, str]:
        return {name: kind for _, found, name, kind in schema.expected_columns() if found == table}
