"""Cutting text at the ends of its parts: sections of Markdown, then paragraphs, then lines; fences stay closed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from hashlib import sha256

from cm_tui.engine.platform import tokenizer
from cm_tui.model.text import fence_after

MARK = "…"
"""Marks a cut."""
_HEADING = re.compile(r"^#{1,6}\s")
_LEAST = 80
"""Characters of a part that is looked for elsewhere: shorter ones repeat by nature."""


def blocks(text: str) -> list[str]:
    """Split a text into parts, which joined by blank lines are equal to it: whole fences, headings with their text."""
    found: list[list[str]] = []
    fence, is_new = "", True
    for line in text.strip("\n").split("\n"):
        if not fence and not line.strip():
            is_new = True
            continue
        after_heading = bool(found) and _HEADING.match(found[-1][-1]) is not None and is_new
        if after_heading:
            found[-1] += ["", line]
        elif is_new or (not fence and _HEADING.match(line)):
            found.append([line])
        else:
            found[-1].append(line)
        is_new = False
        fence = fence_after(fence, line)
    return ["\n".join(lines) for lines in found if any(line.strip() for line in lines)]


def joined(parts: Sequence[str]) -> str:
    """Return parts as one text."""
    return "\n\n".join(parts)


def within(text: str, most: int) -> str:
    """Return the start of a text within a number of tokens, cut at the end of a part, with a mark.

    If the first part is too long, it is cut at a line end; if not even a line fits, the result is empty.

    Args:
        text: Markdown.
        most: tokens.
    """
    if most <= 0:
        return ""
    if tokenizer.count(text) <= most:
        return text
    parts = blocks(text)
    kept = longest(lambda number: joined([*parts[:number], MARK]), len(parts) - 1, most)
    return kept or _lines_of(parts[0] if parts else "", most)


def _lines_of(part: str, most: int) -> str:
    lines = part.split("\n")
    cuts: list[list[str]] = []
    fence = ""
    for number, line in enumerate(lines[:-1], 1):
        before, fence = fence, fence_after(fence, line)
        if not fence or before:  # An empty fence is useless.
            cuts.append([*lines[:number], MARK, *([fence] if fence else [])])
    return longest(lambda number: "\n".join(cuts[number - 1]), len(cuts), most)


def longest(cut: Callable[[int], str], texts: int, most: int) -> str:
    """Return the longest of some texts, numbered from 1 by their length, within a number of tokens; empty: none."""
    fitting = bisect_right(range(1, texts + 1), most, key=lambda number: tokenizer.count(cut(number)))
    return cut(fitting) if fitting else ""


def digest(text: str) -> str:
    """Return the digest of a text."""
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def without_known(text: str, known: dict[str, str], source: str) -> tuple[str, int, str]:
    """Return a text without the parts of another source, the number of those, and one such source.

    Args:
        text: Markdown.
        known: sources by the digest of their parts; remaining parts are added.
        source: of the text.
    """
    kept, gone, other = [], 0, ""
    for part in blocks(text):
        if len(part) < _LEAST:
            kept.append(part)
            continue
        owner = known.setdefault(digest(part), source)
        if owner == source:
            kept.append(part)
        else:
            gone, other = gone + 1, owner
    return (joined(kept) if gone else text), gone, other
