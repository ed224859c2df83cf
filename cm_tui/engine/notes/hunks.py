"""Changes of a text as hunks of lines, which can be taken back after other lines have changed too."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from cm_tui.errors import UsageError

_CONTEXT = 2
"""Lines on either side that say where a hunk belongs."""
_LONG = 4_000
"""Lines of two texts from which on one hunk holds all that differs: to find each takes too long."""
_Opcode = tuple[str, int, int, int, int]


class Hunk(NamedTuple):
    """Lines in the place of others.

    Attributes:
        row: of the text afterwards, from 0, where they begin.
        before: lines that were there.
        after: lines that are there.
        above: lines before them, at most two.
        below: lines behind them, at most two.
    """

    row: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; that it ends with the last one is not a line of its own."""
    return text.removesuffix("\n").split("\n") if text else []


def hunks_between(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Return what has changed from one text to another."""
    short = len(before) + len(after) < _LONG
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if short else ()
    opcodes: list[_Opcode] = [*found] if short else [*_whole(before, after)]
    return [hunk for number in range(len(opcodes)) for hunk in _hunk(opcodes, number, before, after)]


def _hunk(opcodes: Sequence[_Opcode], number: int, before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield the hunk of an opcode that changes something; the lines around it are such as stay."""
    kind, i1, i2, j1, j2 = opcodes[number]
    if kind == "equal":
        return
    first = opcodes[number - 1][3] if number else j1
    last = opcodes[number + 1][4] if number + 1 < len(opcodes) else j2
    above, below = after[max(first, j1 - _CONTEXT) : j1], after[j2 : min(last, j2 + _CONTEXT)]
    yield Hunk(j1, tuple(before[i1:i2]), tuple(after[j1:j2]), tuple(above), tuple(below))


def taken_back(lines: Sequence[str], hunks: Sequence[Hunk]) -> list[str] | None:
    """Return a text without some changes; None: it has changed at one of them since.

    Args:
        lines: of the text now.
        hunks: the changes, in order.
    """
    found = list(lines)
    # From the end: what stands before it keeps its place.
    for hunk in reversed(hunks):
        row = _row_of(found, hunk)
        if row is None:
            return None
        found[row : row + len(hunk.after)] = hunk.before
    return found


def reversed_hunks(hunks: Sequence[Hunk]) -> list[Hunk]:
    """Return the changes that lead from the text afterwards back to the one before, at their rows in that one."""
    found, moved = [], 0
    for hunk in hunks:
        found.append(hunk._replace(row=hunk.row - moved, before=hunk.after, after=hunk.before))
        moved += len(hunk.after) - len(hunk.before)
    return found


def never_made(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Return whether a text is, around each of some changes, as it was before them."""
    return all(any(_is_before(lines, hunk, row) for row in range(len(lines) + 1)) for hunk in hunks)


def _is_before(lines: Sequence[str], hunk: Hunk, row: int) -> bool:
    """Return whether what stands from a row on is what a change found there, between the same lines."""
    part = (*hunk.above, *hunk.before, *hunk.below)
    stop = row + len(part)
    ends = (hunk.above or row == 0) and (hunk.below or stop == len(lines))
    return bool(ends) and tuple(lines[row:stop]) == part


def with_kept_lines(shown: Sequence[str], kept: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return a changed text with the lines that stay as they are kept, not as they are shown.

    Args:
        shown: the text before, as it was shown: without secrets.
        kept: the same lines, as the file has them.
        after: the text afterwards, made of what was shown.

    Raises:
        UsageError: lines that look the same hold different things, and it is not clear which of them is gone.
    """
    hidden: dict[str, list[str]] = defaultdict(list)
    for as_shown, as_kept in zip(shown, kept, strict=True):
        if as_shown != as_kept:
            hidden[as_shown].append(as_kept)
    if not hidden:
        return list(after)
    there = Counter(line for line in after if line in hidden)
    for line, number in there.items():
        if len(set(hidden[line])) > 1 and number != len(hidden[line]):
            raise UsageError(
                f"{len(hidden[line])} lines show as {line.strip()[:60]!r}, and it is not clear which of them is gone.",
                hint="Change them in an editor of your own: the note stays as it is.",
            )
    # In their order: a line that was moved keeps what it holds.
    waiting = {line: iter(hidden[line] if len(set(hidden[line])) > 1 else repeat(hidden[line][0])) for line in there}
    return [next(waiting[line]) if line in waiting else line for line in after]


def data_of(hunks: Sequence[Hunk]) -> list[dict[str, Any]]:
    """Return hunks as JSON can hold them."""
    return [one._asdict() for one in hunks]


def read_hunks(data: object) -> list[Hunk]:
    """Return the hunks that JSON holds; what is none is left out."""
    return [hunk for one in data for hunk in _read(one)] if isinstance(data, list) else []


def _read(data: object) -> Iterator[Hunk]:
    if isinstance(data, Mapping) and isinstance(data.get("row"), int):
        parts = [data.get(name) for name in ("before", "after", "above", "below")]
        if all(isinstance(part, list) and all(isinstance(line, str) for line in part) for part in parts):
            yield Hunk(data["row"], *(tuple(part or ()) for part in parts))


def _row_of(lines: Sequence[str], hunk: Hunk) -> int | None:
    """Return where a change stands now: at its place, else at the only one with the same lines around it."""
    if _stands(lines, hunk, hunk.row):
        return hunk.row
    places = [row for row in range(len(lines) - len(hunk.after) + 1) if _stands(lines, hunk, row)]
    return places[0] if len(places) == 1 else None


def _stands(lines: Sequence[str], hunk: Hunk, row: int) -> bool:
    stop = row + len(hunk.after)
    return (
        row >= 0
        and stop <= len(lines)
        and tuple(lines[row:stop]) == hunk.after
        and (tuple(lines[max(0, row - len(hunk.above)) : row]) == hunk.above)
        and (tuple(lines[stop : stop + len(hunk.below)]) == hunk.below)
    )


def _whole(before: Sequence[str], after: Sequence[str]) -> Iterator[_Opcode]:
    """Yield what differs between the equal beginning and the equal end of two long texts."""
    most = min(len(before), len(after))
    start = next((row for row in range(most) if before[row] != after[row]), most)
    end = next((row for row in range(most - start) if before[-1 - row] != after[-1 - row]), most - start)
    if start:
        yield "equal", 0, start, 0, start
    if len(before) > start + end or len(after) > start + end:
        yield "replace", start, len(before) - end, start, len(after) - end
    if end:
        yield "equal", len(before) - end, len(before), len(after) - end, len(after)
