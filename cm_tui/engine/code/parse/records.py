"""Rows of a parsed blob: plain tuples, cheap to send between processes, with the columns of the store's tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


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
