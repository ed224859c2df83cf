"""The block of approved Rules in an instructions file: written below the user's text, and removable without a trace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

BEGIN = "<!-- cm-tui: approved rules, written by `cm entries publish`; what stands between these marks is replaced -->"
END = "<!-- cm-tui: end of approved rules -->"
_JOINED = BEGIN.replace("approved rules,", "approved rules (the last line had no end),")
"""Marks that the text above ended without a line end, which is restored with the block's removal."""


class Rule(NamedTuple):
    """A Rule in the block.

    Attributes:
        title: empty: none.
        content: its text.
    """

    title: str
    content: str


def with_block(text: str, rules: Sequence[Rule]) -> str:
    """Return a file's text with a new block of Rules; without Rules, the block is removed."""
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
    """Return the start and end of the block; -1: no complete block.

    A mark counts only as a line of its own, and of several begin marks the last one before the end mark: text below an
    unclosed mark belongs to the user.
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
    # No text of a Rule ends the block.
    lines = said.replace("<!--", "&lt;!--").replace("-->", "--&gt;").split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
