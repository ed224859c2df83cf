"""Snippets: the lines of a passage that answer, not its head."""

from __future__ import annotations

from collections.abc import Iterable

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.wording import CODE_WORDING, Wording

_MOST_LINES = 12
_DEFINITION = 2
"""Terms that the line of the definition is worth."""
_LONG_TEXT = 200_000
"""Characters of a passage that are looked through; a longer one is data, not text."""


def snippet(
    text: str, start_line: int, terms: Iterable[str], most: int, name: str = "", *, wording: Wording = CODE_WORDING
) -> tuple[str, int]:
    """The lines with the most different terms of the query.

    Args:
        text: the passage.
        start_line: first line in the file.
        terms: index terms of the query.
        most: at most so many characters.
        name: of the passage's symbol; its defining line is shown if queried.
        wording: how text and query were split.

    Returns:
        The lines, and the number of the first one in the file.
    """
    lines = text[:_LONG_TEXT].split("\n")
    wanted = frozenset(terms)
    found = [wanted.intersection(wording.terms(line)) if line else frozenset() for line in lines]
    asked_for = bool(name) and not wanted.isdisjoint(tokens.terms(name))
    definition = next((row for row, line in enumerate(lines) if name in line), -1) if asked_for else -1
    first = _best_start(lines, found, most, definition)
    last = _end(lines, first, most)
    while first < last - 1 and not lines[first].strip():
        first += 1
    chosen = lines[first:last]
    if len(chosen) == 1 and len(chosen[0]) > most:
        return _around(chosen[0], wanted, most, wording), start_line + first
    return "\n".join(chosen).rstrip(), start_line + first


def _best_start(lines: list[str], found: list[frozenset[str]], most: int, definition: int) -> int:
    best, where = (0, 0), 0
    for first, here in enumerate(found):
        # A window that starts with an irrelevant line is never better than the one after it.
        if not here:
            continue
        last = _end(lines, first, most)
        union = frozenset().union(*found[first:last])
        defines = _DEFINITION if first <= definition < last else 0
        rank = (len(union) + defines, sum(map(len, found[first:last])))
        if rank > best:
            best, where = rank, first
    # One line before the first match gives context, when there is room.
    return max(where - 1, 0) if where and len(lines[where - 1]) < most // 4 else where


def _end(lines: list[str], first: int, most: int) -> int:
    """Line after the last one that fits."""
    size = 0
    for place in range(first, min(first + _MOST_LINES, len(lines))):
        size += len(lines[place]) + 1
        if size - 1 > most and place > first:
            return place
    return min(first + _MOST_LINES, len(lines))


def _around(line: str, wanted: frozenset[str], most: int, wording: Wording) -> str:
    """Return a piece of one long line, around its first match."""
    place = 0
    for word in tokens.words(line):
        place = line.index(word, place)
        if wanted.intersection(wording.split(word)):
            break
        place += len(word)
    else:
        place = 0
    first = max(0, min(place - most // 4, len(line) - most))
    return line[first : first + most]
