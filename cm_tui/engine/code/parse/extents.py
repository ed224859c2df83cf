"""Extents of definitions: start and end beyond their own nodes."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.code.parse.tree_query import Findings, Span


def apply_extents(found: Findings, lines: Sequence[str]) -> None:
    """Apply `@owner`, `@outer` and `@attribute` to the raw definitions, and trim them."""
    for at, owner in found.owners:
        if at in found.symbols:
            found.symbols[at].owner = owner
    for at, node in found.outers:
        raw = found.symbols.get(at)
        if raw is not None:
            raw.start, raw.end = min(raw.start, node.start_byte), max(raw.end, node.end_byte)
            raw.first_row = min(raw.first_row, node.start_point[0])
            raw.last_row = max(raw.last_row, node.end_point[0])
    _trim(found, lines)
    if found.attributes:
        _take_in_attributes(found, lines)


def _trim(found: Findings, lines: Sequence[str]) -> None:
    """Trim blank lines and comments at the end of definitions that extend to the next one (F#, Haskell)."""
    comments = {
        row for span in found.comments if stands_alone(span, lines) for row in range(span.first_row, span.last_row + 1)
    }
    for raw in found.symbols.values():
        # In damaged text a grammar may end a definition behind the last line.
        raw.last_row = max(raw.first_row, min(raw.last_row, len(lines) - 1))
        while raw.last_row > raw.first_row and (raw.last_row in comments or not lines[raw.last_row].strip()):
            raw.last_row -= 1


def _take_in_attributes(found: Findings, lines: Sequence[str]) -> None:
    """Extend definitions to the attributes above them; comments may be in between."""
    # An attribute on the definition's own line is inside it already.
    ending = {
        span.last_row: span
        for span in found.attributes
        if lines[span.last_row].rstrip().endswith(span.text.rpartition("\n")[2].rstrip())
    }
    comments = {row for span in found.comments for row in range(span.first_row, span.last_row + 1)}
    for raw in found.symbols.values():
        row = raw.first_row - 1
        while row >= 0:
            if row in ending:
                raw.start, raw.first_row = ending[row].start, ending[row].first_row
                row = ending[row].first_row - 1
            elif row in comments and lines[row].strip():
                row -= 1
            else:
                break


def stands_alone(comment: Span, lines: Sequence[str]) -> bool:
    """Whether a comment is the first text on its line."""
    return lines[comment.first_row].lstrip()[:1] == comment.text[:1]
