"""The block of approved rules in a file of instructions: written below what people wrote, and taken out without a trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

BEGIN = "<!-- cm-tui: approved rules, written by `cm entries publish`; what stands between these marks is replaced -->"
END = "<!-- cm-tui: end of approved rules -->"
_JOINED = BEGIN.replace("approved rules,", "approved rules (the last line had no end),")
"""Says that the text above had no end of its last line, so that it gets none when the block goes."""


class Rule(NamedTuple):
    """A rule as it stands in the block.

    Attributes:
        title: what it is called; empty: nothing.
        content: what it says.
    """

    title: str
    content: str


def with_block(text: str, rules: Sequence[Rule]) -> str:
    """Return a file's text with a block of rules, in the place of the one that is there; without rules, without one."""
    start, stop = _span(text)
    if not rules:
        return without_block(text)
    lines = "".join(f"{_item(rule)}\n" for rule in rules)
    if start >= 0:
        begin = text[start:].partition("\n")[0]
        return f"{text[:start]}{begin}\n{lines}{END}{text[stop:]}"
    joined = bool(text) and not text.endswith("\n")
    above = f"{text}\n\n" if joined else f"{text}\n" if text else ""
    return f"{above}{_JOINED if joined else BEGIN}\n{lines}{END}\n"


def without_block(text: str) -> str:
    """Return a file's text as it was before a block was written into it."""
    start, stop = _span(text)
    if start < 0:
        return text
    joined = text.startswith(_JOINED, start)
    above, below = text[:start], text[stop:].removeprefix("\n")
    above = above.removesuffix("\n")
    if joined and not below:
        above = above.removesuffix("\n")
    return above + below if not (above and below) or above.endswith("\n") else f"{above}\n{below}"


def _span(text: str) -> tuple[int, int]:
    """Return where the block begins and ends; -1: there is none that is whole.

    A mark counts as a line of its own alone, and of several that begin a block the last one before its end: what stands
    below a mark without an end is people's.
    """
    begins = _lines_at(text, (BEGIN, _JOINED))
    stop = next((end for end in _lines_at(text, (END,)) if begins and end > begins[0]), -1)
    if stop < 0:
        return -1, -1
    return max(begin for begin in begins if begin < stop), stop + len(END)


def _lines_at(text: str, marks: Collection[str]) -> list[int]:
    """Return where lines begin that are one of these marks and nothing else."""
    places, at = [], 0
    for line in text.split("\n"):
        if line in marks:
            places.append(at)
        at += len(line) + 1
    return places


def _item(rule: Rule) -> str:
    said = rule.content.strip()
    if rule.title and not said.startswith(rule.title.rstrip("…")):
        said = f"{rule.title.strip()}: {said}"
    # Nothing that a rule says ends the block.
    lines = said.replace("<!--", "&lt;!--").replace("-->", "--&gt;").split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
