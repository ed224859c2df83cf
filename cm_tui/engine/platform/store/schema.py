"""The store's schema: migrations, their result, and checking a store."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache
from importlib import resources
from typing import Any

import duckdb

Rows = Callable[[str], list[tuple[Any, ...]]]

_COLUMNS = (
    "SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns() "
    "WHERE NOT internal AND database_name = current_database()"
)
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database()"
_KEY = "schema"


class UnreadableSchemaError(Exception):
    """A store without a readable schema number."""


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """Return every migration, by its number, as SQL."""
    folder = resources.files("cm_tui.engine.platform.store") / "migrations"
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return tuple((int(f.name[:4]), f.read_text(encoding="utf-8")) for f in files)


def number_of(rows: Rows) -> int:
    """Return the number of a store's schema; 0: new.

    `rows`: queries the store. Raises UnreadableSchemaError: no valid number; the text is the rest of a sentence about
    the store.
    """
    try:
        found = [row[0] for row in rows(f"SELECT value FROM meta WHERE key = '{_KEY}'")]  # noqa: S608 - constant
    except duckdb.CatalogException:
        # In a database with foreign tables, this schema is added next to them; half a store is rejected.
        tables = {row[0] for row in rows(_TABLES)}
        if lost := tables & {row[1] for row in expected_columns()}:
            raise UnreadableSchemaError(
                f"the table meta is missing, though {', '.join(sorted(lost)[:3])} exists"
            ) from None
        return 0
    if not found:
        raise UnreadableSchemaError("its schema number is missing")
    if len(set(found)) > 1 or not str(found[0]).isdecimal():
        said = ", ".join(repr(str(one)[:40]) for one in found[:3])
        raise UnreadableSchemaError(f"its schema is {said}, which is not a number")
    return int(found[0])


@cache
def expected_columns() -> frozenset[tuple[str, str, str, str]]:
    """Return (schema, table, column, type) of everything that the migrations make."""
    with closing(duckdb.connect()) as made:
        for _, sql in migrations():
            made.execute(sql)
        return frozenset(made.execute(_COLUMNS).fetchall())


def lacks(rows: Rows) -> list[str]:
    """Return the missing parts of the newest schema in a store, as TABLE or TABLE.COLUMN.

    `rows`: queries the store.
    """
    there = set(rows(_COLUMNS))
    tables = {row[:2] for row in there}
    missing = {
        table if (schema, table) not in tables else f"{table}.{column}"
        for schema, table, column, _ in expected_columns() - there
    }
    return sorted(missing)
