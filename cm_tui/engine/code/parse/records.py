"""Rows of a parsed blob: plain tuples, cheap to send between processes, with the columns of the store's tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cm_tui.engine.platform.store.bulk import Columns, transpose


class ParsedSymbol(NamedTuple):
    """Row of `symbol`; its position in the list is its `idx`."""

    parent: int | None
    kind: str
    name: str
    qualname: str
    overload: int
    signature: str
    doc: str
    start_line: int
    end_line: int
    min_args: int | None = None
    max_args: int | None = None
    body: int = 0
    """Digest of its own lines, without those of nested symbols."""


class ParsedReference(NamedTuple):
    """Row of `reference`."""

    symbol: int | None
    kind: str
    name: str
    receiver: str | None
    arity: int | None
    line: int


class ParsedImport(NamedTuple):
    """Row of `import`."""

    symbol: int | None
    module: str
    name: str | None
    alias: str | None
    reexport: bool
    line: int


class ParsedBinding(NamedTuple):
    """Row of `binding`."""

    scope: int | None
    kind: str
    name: str
    type: str
    line: int


class ParsedChunk(NamedTuple):
    """Row of `chunk`; 1-based inclusive lines."""

    symbol: int | None
    start_line: int
    end_line: int


@dataclass(slots=True)
class ParsedBlob:
    """All rows of a blob."""

    oid: str
    language: str
    bytes: int
    lines: int
    generated: bool = False
    error: str | None = None
    symbols: list[ParsedSymbol] = field(default_factory=list)
    references: list[ParsedReference] = field(default_factory=list)
    imports: list[ParsedImport] = field(default_factory=list)
    bindings: list[ParsedBinding] = field(default_factory=list)
    chunks: list[ParsedChunk] = field(default_factory=list)


@dataclass(slots=True)
class LocatedSymbol:
    """Symbol with its range of bytes; `lead` is the row at which its documentation begins."""

    row: ParsedSymbol
    start: int
    end: int
    lead: int
    name_at: int


# --- parsed blobs as columns of the store's tables: what workers send ---

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


def columns_of(parsed: Iterable[tuple[int, ParsedBlob]], version: str) -> Batch:
    """Return the columns of every table for some parsed blobs.

    `parsed`: id of each blob in the store, and its rows.
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


def _clean(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")


def merge(batches: Sequence[Batch]) -> Batch:
    """Join several batches into one, in their order."""
    merged: Batch = {}
    for batch in batches:
        for table, columns in batch.items():
            target = merged.setdefault(table, {name: [] for name in columns})
            for name, values in columns.items():
                target[name].extend(values)
    return merged


def size_of(batch: Batch) -> int:
    """Count the rows in a batch."""
    return sum(len(next(iter(columns.values()))) for columns in batch.values())
