"""Chunks of a file, which become passages: every non-blank line is in exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cm_tui.engine.code.parse.records import LocatedSymbol, ParsedChunk
from cm_tui.engine.code.parse.symbol_tree import VALUES

MAX_CHARS = 1500
"""Length of the longest chunk; one line may be longer."""
MAX_LINES = 60
TEXT_LINES = 50
TINY_LINES = 3
"""Neighbours this short are put together."""


class _Span(NamedTuple):
    """Rows of a chunk from `start` up to, not with, `stop`; the symbol it belongs to."""

    start: int
    stop: int
    symbol: int | None
    tiny: bool


def chunk_lines(lines: Sequence[str]) -> list[ParsedChunk]:
    """Cut text that has no symbols."""
    return _finish([_Span(0, len(lines), None, tiny=False)], lines, TEXT_LINES)


def chunk_symbols(lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[ParsedChunk]:
    """Cut one chunk per symbol, nested ones only once; small classes whole, large ones as header and members."""
    if not located:
        return chunk_lines(lines)
    return _finish(_merge(_spans(lines, located), lines), lines, MAX_LINES)


def _spans(lines: Sequence[str], located: Sequence[LocatedSymbol]) -> list[_Span]:
    sizes = [0]
    for line in lines:
        sizes.append(sizes[-1] + len(line) + 1)
    holds = _holders(located)
    spans: list[_Span] = []
    cursor = 0
    open_ends: list[tuple[int, int]] = []  # (stop row, symbol) of containers that are being walked

    def gap(until: int) -> None:
        nonlocal cursor
        if until > cursor:
            owner = open_ends[-1][1] if open_ends else None
            spans.append(_Span(cursor, until, owner, tiny=owner is None and until - cursor <= TINY_LINES))
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
            spans.append(_Span(cursor, stop, index, tiny=stop - cursor <= TINY_LINES))
            cursor = stop
    while open_ends:
        gap(open_ends[-1][0])
        open_ends.pop()
    gap(len(lines))
    return spans


def _holders(located: Sequence[LocatedSymbol]) -> list[bool]:
    """Return the symbols that contain a symbol with its own body."""
    holds = [False] * len(located)
    stack: list[int] = []
    for index, item in enumerate(located):
        while stack and located[stack[-1]].end <= item.start:
            stack.pop()
        if item.row.kind not in VALUES:
            for outer in stack:
                holds[outer] = True
        stack.append(index)
        del stack[:-64]  # deeper nesting does not matter for passages
    return holds


def _merge(spans: Sequence[_Span], lines: Sequence[str]) -> list[_Span]:
    """Merge tiny neighbours, up to the size of a chunk."""
    merged: list[_Span] = []
    size = 0
    owners: set[int | None] = set()
    for span in spans:
        length = sum(len(line) + 1 for line in lines[span.start : span.stop])
        last = merged[-1] if merged else None
        fits = size + length <= MAX_CHARS
        if last is not None and last.tiny and span.tiny and fits and span.stop - last.start <= MAX_LINES:
            owners |= {span.symbol} - {None}
            # With the name of one of several symbols, it would be listed for the others' text, too.
            merged[-1] = _Span(last.start, span.stop, next(iter(owners)) if len(owners) == 1 else None, tiny=True)
            size += length
        else:
            merged.append(span)
            size, owners = length, {span.symbol} - {None}
    return merged


def _finish(spans: Sequence[_Span], lines: Sequence[str], most: int) -> list[ParsedChunk]:
    """Split long chunks, trim blank edges, drop blank ones."""
    chunks: list[ParsedChunk] = []
    for span in spans:
        start = span.start
        while True:
            while start < span.stop and not lines[start].strip():
                start += 1
            if start >= span.stop:
                break
            stop = _cut(lines, start, span.stop, most)
            end = stop
            while not lines[end - 1].strip():
                end -= 1
            chunks.append(ParsedChunk(span.symbol, start + 1, end))
            start = stop
    return chunks


def _cut(lines: Sequence[str], start: int, stop: int, most: int) -> int:
    """Return the row before which to end a chunk that begins at `start`: the best break in the last part that fits."""
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
        # A blank line is the best place; next the line with the least indentation that opens a block.
        cost = (-4.0 if not before.strip() or not stripped else indent) + (row - candidate) * 0.2
        if stripped[:1] in {")", "]", "}"} or stripped.startswith(
            ("else", "elif", "except", "finally", "catch", "end")
        ):
            cost += 8
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best
