"""A store as seen by graph queries: with an in-memory schema for derived tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any
from weakref import proxy

from cm_tui.engine.platform.store.bulk import transpose
from cm_tui.engine.platform.store.cursor import Cursor
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import Generations

SCHEMA = "graph"
_SCHEMA = re.compile(r"\bgraph\.")
_IDS = ("scope", "node", "there", "target", "file", "id", "symbol")
_FLAGS = ("implicit", "reexport", "guesses", "global_names", "counts_arguments")


@cache
def script(name: str) -> str:
    """Text of one of this folder's SQL files."""
    return (resources.files(__package__) / "sql" / f"{name}.sql").read_text(encoding="utf-8")


class SchemaView:
    """View of a store with one set of derived tables: `graph.` in a query is the schema of that set."""

    def __init__(self, db: Database, schema: str) -> None:
        # The store is the key of the sets: a strong reference would keep it forever.
        self._db: Database = proxy(db)
        self.schema = schema

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""
        return self._db.cursor

    @property
    def generations(self) -> Generations:
        """States of the store that questions are answered from."""
        return self._db.generations

    def sql(self, text: str) -> str:
        """Return a query with the set's own schema; call it before inserting values."""
        return text if self.schema == SCHEMA else _SCHEMA.sub(f"{self.schema}.", text)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._db.rows(self.sql(sql), parameters)

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """First column of the first row, or None."""
        return self._db.value(self.sql(sql), parameters)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement without reading its rows."""
        self._db.execute(self.sql(sql), parameters)

    def run(self, sql: str) -> None:
        """Run a script."""
        self.cursor.execute(self.sql(sql))

    def get_meta(self, key: str) -> str | None:
        """Return a remembered fact about the store."""
        return self._db.get_meta(key)

    def fill(self, table: str, names: Sequence[str], rows: Iterable[tuple[Any, ...]], *, append: bool = False) -> None:
        """Fill a table of the set with rows of integers, strings and booleans.

        `table`: recreated unless `append` is set. `names`: of its columns; those of `segs` are split at dots. `rows`:
        values in that order. `append`: keep existing rows.
        """
        from arro3.core import Array, DataType, Table

        types = {
            **dict.fromkeys(_IDS, DataType.int64()), **dict.fromkeys(_FLAGS, DataType.bool()), "line": DataType.int32(),
        }  # fmt: skip
        columns = transpose(names, rows)
        arrow = Table.from_pydict({n: Array(v, type=types.get(n, DataType.string())) for n, v in columns.items()})
        # Lists travel as text: the Arrow library builds none.
        select = "* REPLACE (string_split(segs, '.') AS segs)" if "segs" in columns else "*"
        cursor = self._db.cursor
        cursor.register("incoming_rows", arrow)
        try:
            if append:
                self.run(f"INSERT INTO graph.{table} BY NAME SELECT {select} FROM incoming_rows")  # noqa: S608 - our own names
            else:
                self.run(f"CREATE OR REPLACE TABLE graph.{table} AS SELECT {select} FROM incoming_rows")  # noqa: S608 - likewise
        finally:
            cursor.unregister("incoming_rows")
