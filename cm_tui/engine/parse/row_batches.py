"""Parsed blobs as columns of the store's tables: what workers send, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cm_tui.engine.parse.records import (
    ParsedBinding,
    ParsedBlob,
    ParsedChunk,
    ParsedImport,
    ParsedReference,
    ParsedSymbol,
)
from cm_tui.engine.store.database import Database

Columns = dict[str, list[Any]]
Batch = dict[str, Columns]
"""Columns by table."""

BLOB_TABLES = ("symbol", "reference", "import", "binding", "chunk")
"""Tables whose rows belong to a blob."""

_BLOB = ("id", "oid", "language", "bytes", "lines", "generated", "parsed_by", "error")
_CHILDREN = {
    "symbol": ("symbols", ParsedSymbol._fields, True),
    "reference": ("references", ParsedReference._fields, False),
    "import": ("imports", ParsedImport._fields, False),
    "binding": ("bindings", ParsedBinding._fields, False),
    "chunk": ("chunks", ParsedChunk._fields, True),
}
_NUMBERS = frozenset(
    {
        "id", "blob", "idx", "parent", "overload", "start_line", "end_line", "min_args", "max_args", "symbol", "arity",
        "line", "scope", "bytes", "lines", "from_ord", "to_ord", "ord",
    }
)  # fmt: skip
_LONG = frozenset({"body", "time"})
_FLAGS = frozenset({"generated", "reexport", "included"})


def columns_of(parsed: Iterable[tuple[int, ParsedBlob]], version: str) -> Batch:
    """Columns of every table for some parsed blobs.

    Args:
        parsed: id of each blob in the store, and what was parsed.
        version: of the extractor that parsed them.
    """
    blobs = list(parsed)
    batch: Batch = {}
    values = (
        (number, blob.oid, blob.language, blob.bytes, blob.lines, blob.generated, version, _clean(blob.error))
        for number, blob in blobs
    )
    batch["blob"] = transpose(_BLOB, values)
    for table, (attribute, fields, numbered) in _CHILDREN.items():
        names = ("blob", "idx", *fields) if numbered else ("blob", *fields)
        rows = (
            (number, idx, *row) if numbered else (number, *row)
            for number, blob in blobs
            for idx, row in enumerate(getattr(blob, attribute))
        )
        batch[table] = transpose(names, rows)
    return batch


def transpose(names: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> Columns:
    """Rows as columns; every column is there, also when there is no row."""
    columns = list(zip(*rows, strict=True))
    return dict(zip(names, map(list, columns), strict=True)) if columns else {name: [] for name in names}


def _clean(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def write(db: Database, batch: Batch) -> None:
    """Insert a batch; the caller holds the transaction."""
    for table, columns in batch.items():
        insert(db, table, columns)


def insert(db: Database, table: str, columns: Columns) -> None:
    """Insert rows of a table whose columns this room knows by name."""
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


def merge(batches: Sequence[Batch]) -> Batch:
    """Several batches as one, in their order."""
    merged: Batch = {}
    for batch in batches:
        for table, columns in batch.items():
            target = merged.setdefault(table, {name: [] for name in columns})
            for name, values in columns.items():
                target[name].extend(values)
    return merged


def size_of(batch: Batch) -> int:
    """Rows in a batch."""
    return sum(len(next(iter(columns.values()))) for columns in batch.values())
