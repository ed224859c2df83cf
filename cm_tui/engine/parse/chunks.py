"""Cut a file into the pieces that become passages: every line that is not blank is in exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.engine.parse.records import LocatedSymbol, ParsedChunk
from cm_tui.engine.parse.symbol_tree import VALUES

MAX_CHARS = 1500
"""A piece longer than this is split, unless it is one line."""
MAX_LINES = 60
TEXT_LINES = 50
TINY_LINES = 3
"""Neighbours this short are put together."""


class Piece(NamedTuple):
    """Rows from `start` up to, not with, `stop`; the symbol it belongs to."""

    start: int
    stop: int
    symbol: int | None
    tiny: bool


def chunk_lines(lines: Sequence[str]) -> list[ParsedChunk]:
    """Cut text that has no symbols."""
    return _finish([Piece(0, len(lines), None, tiny=False)], lines, TEXT_LINES)


def chunk_symbols(lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[ParsedChunk]:
    """One piece a symbol, nested ones not twice; small classes whole, large ones as header and members."""
    if not located:
        return chunk_lines(lines)
    return _finish(_merge(_pieces(lines, located), lines), lines, MAX_LINES)


def _pieces(lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[Piece]:
    sizes = [0]
    for line in lines:
        sizes.append(sizes[-1] + len(line) + 1)
    holds = _holders(located)
    pieces: list[Piece] = []
    cursor = 0
    open_ends: list[tuple[int, int]] = []  # (stop row, symbol) of containers that are being walked

    def gap(until: int) -> None:
        nonlocal cursor
        if until > cursor:
            owner = open_ends[-1][1] if open_ends else None
            pieces.append(Piece(cursor, until, owner, tiny=owner is None and until - cursor <= TINY_LINES))
            cursor = until

    for index, item in enumerate(located):
        start, stop = item.lead, min(item.row.end_line, len(lines))
        while open_ends and open_ends[-1][0] <= start:
            gap(open_ends[-1][0])
            open_ends.pop()
        if stop <= cursor or (item.row.kind in VALUES and open_ends):
            continue
        gap(max(start, cursor))
        large = sizes[stop] - sizes[cursor] > MAX_CHARS or stop - cursor > MAX_LINES
        if holds[index] and large:
            open_ends.append((stop, index))
        else:
            pieces.append(Piece(cursor, stop, index, tiny=stop - cursor <= TINY_LINES))
            cursor = stop
    while open_ends:
        gap(open_ends[-1][0])
        open_ends.pop()
    gap(len(lines))
    return pieces


def _holders(located: Sequence[LocatedSymbol]) -> list[bool]:
    """Which symbols have a symbol with a body of its own inside."""
    holds = [False] * len(located)
    stack: list[int] = []
    for index, item in enumerate(located):
        while stack and located[stack[-1]].end <= item.start:
            stack.pop()
        if item.row.kind not in VALUES:
            for outer in stack:
                holds[outer] = True
        stack.append(index)
        del stack[:-64]  # deeper nesting than this says nothing about passages
    return holds


def _merge(pieces: Sequence[Piece], lines: Sequence[str]) -> list[Piece]:
    """Put tiny neighbours together, as long as they stay within a piece's size."""
    merged: list[Piece] = []
    size = 0
    owners: set[int | None] = set()
    for piece in pieces:
        length = sum(len(line) + 1 for line in lines[piece.start : piece.stop])
        last = merged[-1] if merged else None
        fits = size + length <= MAX_CHARS
        if last is not None and last.tiny and piece.tiny and fits and piece.stop - last.start <= MAX_LINES:
            owners |= {piece.symbol} - {None}
            # Named after one of several symbols, it would be listed as that one for what the others say.
            merged[-1] = Piece(last.start, piece.stop, next(iter(owners)) if len(owners) == 1 else None, tiny=True)
            size += length
        else:
            merged.append(piece)
            size, owners = length, {piece.symbol} - {None}
    return merged


def _finish(pieces: Sequence[Piece], lines: Sequence[str], most: int) -> list[ParsedChunk]:
    """Split what is too long, trim blank edges, drop what is blank."""
    chunks: list[ParsedChunk] = []
    for piece in pieces:
        start = piece.start
        while True:
            while start < piece.stop and not lines[start].strip():
                start += 1
            if start >= piece.stop:
                break
            stop = _cut(lines, start, piece.stop, most)
            end = stop
            while not lines[end - 1].strip():
                end -= 1
            chunks.append(ParsedChunk(piece.symbol, start + 1, end))
            start = stop
    return chunks


def _cut(lines: Sequence[str], start: int, stop: int, most: int) -> int:
    """Row before which to end a piece that begins at `start`: the best break in the last part of what fits."""
    size, row = 0, start
    while row < stop and row - start < most:
        size += len(lines[row]) + 1
        if size > MAX_CHARS and row > start:
            break
        row += 1
    if row >= stop:
        return stop
    best, best_cost = row, float("inf")
    for candidate in range(row, start + max(1, (row - start) // 2), -1):
        line, before = lines[candidate], lines[candidate - 1]
        stripped = line.strip()
        indent = len(line) - len(line.lstrip()) if stripped else 0
        # A blank line is the best place; next the line with the least indentation that opens something.
        cost = (-4.0 if not before.strip() or not stripped else indent) + (row - candidate) * 0.2
        if stripped[:1] in {")", "]", "}"} or stripped.startswith(
            ("else", "elif", "except", "finally", "catch", "end")
        ):
            cost += 8
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best
