"""Changes of a text as hunks of lines, which can be undone after other lines have changed too."""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import repeat
from typing import Any, NamedTuple

from cm_tui.errors import UsageError
from cm_tui.model import Decision

# --- merging what two have changed in one text, line by line ---

MINE, BETWEEN, THEIRS = "<<<<<<< mine", "=======", ">>>>>>> in the file"


class Merged(NamedTuple):
    """Two merged changes of a text.

    Attributes:
        text: the merged text; conflicting lines by the decision, else with marks around them.
        conflicts: number of conflicts.
    """

    text: str
    conflicts: int


def merge(base: str, mine: str, theirs: str, decision: Decision = "") -> Merged:
    """Merge two changes of a text; lines that both only add at the same place are all kept, theirs first.

    `base`: the common base. `mine`: one side. `decision`: how to resolve conflicts; empty: mark them.
    """
    from merge3 import Merge3

    merged: list[str] = []
    conflicts = 0
    texts = [text.split("\n") for text in (base, mine, theirs)]
    for kind, *span in Merge3(texts[0], texts[1], texts[2]).merge_regions():
        if kind == "conflict":
            z1, z2, a1, a2, b1, b2 = span
            mine_lines, their_lines = texts[1][a1:a2], texts[2][b1:b2]
            if z1 == z2:
                merged += _added(their_lines, mine_lines)
                continue
            conflicts += 1
            merged += _decided(mine_lines, their_lines, decision)
        else:
            source = {"unchanged": texts[0], "same": texts[1], "a": texts[1], "b": texts[2]}[kind]
            merged += source[span[0] : span[1]]
    return Merged("\n".join(merged), conflicts)


def _added(theirs: Sequence[str], mine: Sequence[str]) -> Iterator[str]:
    """Yield two additions at one place: common lines once; in each gap theirs, then mine."""
    for _, i1, i2, j1, j2 in SequenceMatcher(None, theirs, mine, autojunk=False).get_opcodes():
        yield from theirs[i1:i2]
        if theirs[i1:i2] != mine[j1:j2]:
            yield from mine[j1:j2]


def _decided(mine: Sequence[str], theirs: Sequence[str], decision: Decision) -> list[str]:
    ways = {"mine": mine, "theirs": theirs, "both": [*theirs, *mine]}
    return [*ways.get(decision, [MINE, *mine, BETWEEN, *theirs, THEIRS])]


# --- changes of a text as hunks of lines ---

_CONTEXT = 2
"""Context lines on either side."""
_LONG = 4_000
"""Lines of two texts from which on one hunk holds all that differs: to find each takes too long."""
_Opcode = tuple[str, int, int, int, int]


class Hunk(NamedTuple):
    """Lines that replace others.

    Attributes:
        row: of the new text, from 0, where they begin.
        before: old lines.
        after: new lines.
        above: lines before them, at most two.
        below: lines after them, at most two.
    """

    row: int
    before: tuple[str, ...]
    after: tuple[str, ...]
    above: tuple[str, ...]
    below: tuple[str, ...]


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without an empty one after the last line end."""
    return text.removesuffix("\n").split("\n") if text else []


def hunks_between(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Return the changes between two texts."""
    short = len(before) + len(after) < _LONG
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if short else ()
    opcodes: list[_Opcode] = [*found] if short else [*_difference(before, after)]
    return [hunk for number in range(len(opcodes)) for hunk in _hunk(opcodes, number, before, after)]


def _hunk(opcodes: Sequence[_Opcode], number: int, before: Sequence[str], after: Sequence[str]) -> Iterator[Hunk]:
    """Yield the hunk of a changing opcode; its context lines are unchanged ones."""
    kind, i1, i2, j1, j2 = opcodes[number]
    if kind == "equal":
        return
    first = opcodes[number - 1][3] if number else j1
    last = opcodes[number + 1][4] if number + 1 < len(opcodes) else j2
    above, below = after[max(first, j1 - _CONTEXT) : j1], after[j2 : min(last, j2 + _CONTEXT)]
    yield Hunk(j1, tuple(before[i1:i2]), tuple(after[j1:j2]), tuple(above), tuple(below))


def without_changes(lines: Sequence[str], hunks: Sequence[Hunk], *, exact: bool = False) -> list[str] | None:
    """Return a text without some changes; None: it has changed at one of them since.

    `lines`: of the text now; `hunks`: the changes, in order; `exact`: the lines below each must be the same too, or the
    end of the text.
    """
    found = list(lines)
    # From the end: earlier lines keep their place.
    for hunk in reversed(hunks):
        row = _row_of(found, hunk)
        if row is None or (exact and not hunk.below and row + len(hunk.after) != len(found)):
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


def is_unapplied(lines: Sequence[str], hunks: Sequence[Hunk]) -> bool:
    """Return whether a text is, around each of some changes, as it was before them."""
    return all(any(_is_before(lines, hunk, row) for row in range(len(lines) + 1)) for hunk in hunks)


def _is_before(lines: Sequence[str], hunk: Hunk, row: int) -> bool:
    """Return whether the lines at a row are a change's old ones, in the same context."""
    part = (*hunk.above, *hunk.before, *hunk.below)
    stop = row + len(part)
    ends = (hunk.above or row == 0) and (hunk.below or stop == len(lines))
    return bool(ends) and tuple(lines[row:stop]) == part


def with_kept_lines(shown: Sequence[str], kept: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return a changed text with unchanged lines as in the file, including their secrets.

    `shown`: the redacted text before; `kept`: the same lines from the file; `after`: the new text, based on `shown`.
    Raises UsageError: lines with equal redacted text have different secrets, and it is unclear which one was removed.
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
                f"{len(hidden[line])} lines look like {line.strip()[:60]!r}, and it is unclear which one was removed.",
                hint="Edit them in an editor; the note was not changed.",
            )
    # In order: a moved line keeps its content.
    waiting = {line: iter(hidden[line] if len(set(hidden[line])) > 1 else repeat(hidden[line][0])) for line in there}
    return [next(waiting[line]) if line in waiting else line for line in after]


def data_of(hunks: Sequence[Hunk]) -> list[dict[str, Any]]:
    """Return hunks as JSON can hold them."""
    return [one._asdict() for one in hunks]


def read_hunks(data: object) -> list[Hunk]:
    """Return the hunks in JSON data; invalid ones are skipped."""
    return [hunk for one in data for hunk in _read(one)] if isinstance(data, list) else []


def _read(data: object) -> Iterator[Hunk]:
    if isinstance(data, Mapping) and isinstance(data.get("row"), int):
        parts = [data.get(name) for name in ("before", "after", "above", "below")]
        if all(isinstance(part, list) and all(isinstance(line, str) for line in part) for part in parts):
            yield Hunk(data["row"], *(tuple(part or ()) for part in parts))


def _row_of(lines: Sequence[str], hunk: Hunk) -> int | None:
    """Return the current place of a change: its row, else the only one with the same context."""
    if _is_at(lines, hunk, hunk.row):
        return hunk.row
    places = [row for row in range(len(lines) - len(hunk.after) + 1) if _is_at(lines, hunk, row)]
    return places[0] if len(places) == 1 else None


def _is_at(lines: Sequence[str], hunk: Hunk, row: int) -> bool:
    stop = row + len(hunk.after)
    return (
        row >= 0
        and stop <= len(lines)
        and tuple(lines[row:stop]) == hunk.after
        and (tuple(lines[max(0, row - len(hunk.above)) : row]) == hunk.above)
        and (tuple(lines[stop : stop + len(hunk.below)]) == hunk.below)
    )


def _difference(before: Sequence[str], after: Sequence[str]) -> Iterator[_Opcode]:
    """Yield the difference between the common beginning and end of two long texts."""
    most = min(len(before), len(after))
    start = next((row for row in range(most) if before[row] != after[row]), most)
    end = next((row for row in range(most - start) if before[-1 - row] != after[-1 - row]), most - start)
    if start:
        yield "equal", 0, start, 0, start
    if len(before) > start + end or len(after) > start + end:
        yield "replace", start, len(before) - end, start, len(after) - end
    if end:
        yield "equal", len(before) - end, len(before), len(after) - end, len(after)
