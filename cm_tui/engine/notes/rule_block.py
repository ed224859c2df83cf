"""The block of approved rules in a file of instructions: written below what people wrote, and taken out without a trace."""

from __future__ import annotations

from collections.abc import Sequence
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
    """Return where the block begins and ends; -1: there is none that is whole."""
    starts = [place for mark in (BEGIN, _JOINED) if (place := _line_at(text, mark)) >= 0]
    if not starts:
        return -1, -1
    stop = text.find(f"\n{END}", starts[0])
    return (starts[0], stop + 1 + len(END)) if stop >= 0 else (-1, -1)


def _line_at(text: str, mark: str) -> int:
    place = text.find(mark)
    return place if place <= 0 or text[place - 1] == "\n" else -1


def _item(rule: Rule) -> str:
    said = rule.content.strip()
    if rule.title and not said.startswith(rule.title.rstrip("…")):
        said = f"{rule.title.strip()}: {said}"
    # Nothing that a rule says ends the block.
    lines = said.replace("<!--", "&lt;!--").replace("-->", "--&gt;").split("\n")
    return "\n".join([f"- {lines[0]}", *(f"  {line}".rstrip() for line in lines[1:])])
