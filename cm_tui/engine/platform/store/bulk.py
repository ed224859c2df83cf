"""Bulk insert: rows as columns, written through one Arrow table each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    # Workers that parse make columns too, and never open a store.
    from cm_tui.engine.platform.store.connection import Cursor


class Store(Protocol):
    """Tables of a store, or some of them."""

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""


Columns = dict[str, list[Any]]
"""Values by column name, all of one length."""

_ARROW = {
    "DOUBLE": "float64", "INTEGER": "int32", "BIGINT": "int64", "UBIGINT": "uint64", "BOOLEAN": "bool", "BLOB": "binary",
}  # fmt: skip
"""Arrow's names of DuckDB's types; all others are texts."""
_TYPES = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = ?"
_known: dict[str, dict[str, str]] = {}
"""Types of the columns of each table: those of the newest schema, which all open stores have."""


def transpose(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Columns:
    """Return rows as columns; every column is there, also when there is no row."""
    columns = list(zip(*rows, strict=True))
    return dict(zip(names, map(list, columns), strict=True)) if columns else {name: [] for name in names}


def insert(store: Store, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert rows of a table of the store, given as columns of one length."""
    if not columns or not len(next(iter(columns.values()))):
        return
    if table not in _known:
        _known[table] = dict(store.cursor.execute(_TYPES, [table]).fetchall())
    names = ", ".join(f'"{name}"' for name in columns)
    with given(store, "incoming_rows", columns, _known[table]):
        store.cursor.execute(f'INSERT INTO "{table}" ({names}) SELECT {names} FROM incoming_rows')  # noqa: S608 - our own names


@contextmanager
def given(store: Store, view: str, columns: Mapping[str, Sequence[Any]], types: Mapping[str, str]) -> Iterator[Cursor]:
    """Have queries of this block read rows under a name.

    `columns`: values by column name, all of one length; `types`: DuckDB's names of their types.
    """
    from arro3.core import Array, DataType, Table

    kinds = {name: getattr(DataType, _ARROW.get(types[name], "string"))() for name in columns}
    arrow = Table.from_pydict({name: Array(list(values), type=kinds[name]) for name, values in columns.items()})
    cursor = store.cursor
    cursor.register(view, arrow)
    try:
        yield cursor
    finally:
        cursor.unregister(view)


def insert_tables(store: Store, tables: Mapping[str, Columns]) -> None:
    """Insert rows of several tables, in their order; the caller holds the transaction."""
    for table, columns in tables.items():
        insert(store, table, columns)
