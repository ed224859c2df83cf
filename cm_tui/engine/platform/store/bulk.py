"""Bulk insert: rows as columns, written through one Arrow table each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Workers that parse make columns too, and never open a store.
    from cm_tui.engine.platform.store.database import Database

Columns = dict[str, list[Any]]
"""Values by column name, all of one length."""

_NUMBERS = frozenset(
    {
        "id", "blob", "idx", "parent", "overload", "start_line", "end_line", "min_args", "max_args", "symbol", "arity",
        "line", "scope", "bytes", "lines", "from_ord", "to_ord", "ord", "side",
    }
)  # fmt: skip
_LONG = frozenset({"body", "time"})
_FLAGS = frozenset({"generated", "reexport", "included"})


def transpose(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Columns:
    """Return rows as columns; every column is there, also when there is no row."""
    columns = list(zip(*rows, strict=True))
    return dict(zip(names, map(list, columns), strict=True)) if columns else {name: [] for name in names}


def insert(db: Database, table: str, columns: Columns) -> None:
    """Insert rows of a table of the store, whose columns have their types by name."""
    from arro3.core import DataType

    kinds = {}
    for name in columns:
        if name in _NUMBERS:
            kinds[name] = DataType.int32()
        elif name in _LONG:
            kinds[name] = DataType.int64()
        else:
            kinds[name] = DataType.bool() if name in _FLAGS else DataType.string()
    db.insert(table, dict(columns), kinds)


def insert_tables(db: Database, tables: Mapping[str, Columns]) -> None:
    """Insert rows of several tables, in their order; the caller holds the transaction."""
    for table, columns in tables.items():
        insert(db, table, columns)
