"""Merging what two have changed in one text, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from cm_tui.model import Decision

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
    if decision == "mine":
        return [*mine]
    if decision == "theirs":
        return [*theirs]
    if decision == "both":
        return [*theirs, *mine]
    return [MINE, *mine, BETWEEN, *theirs, THEIRS]
