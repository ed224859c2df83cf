"""One thread's access to a store: DuckDB's cursor, with its failures raised as store errors."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import duckdb

Explained = Callable[[], AbstractContextManager[None]]


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

    def execute(self, sql: str, parameters: Any = None) -> Cursor:
        """Run a statement; its rows are fetched from this cursor."""
        with self._explained():
            # Without parameters a text may hold several statements.
            self._raw.execute(sql) if parameters is None else self._raw.execute(sql, parameters)
        return self

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        with self._explained():
            return self._raw.fetchall()

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        """Return the next rows."""
        with self._explained():
            return self._raw.fetchmany(size)

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
        """Make rows readable by this cursor's queries under a name."""
        with self._explained():
            self._raw.register(view, rows)

    def unregister(self, view: str) -> None:
        """Take that name back."""
        with self._explained():
            self._raw.unregister(view)

    def interrupt(self) -> None:
        """End the query that another thread runs on it."""
        self._raw.interrupt()

    def close(self) -> None:
        """Close it; an open transaction is rolled back."""
        self._raw.close()
