"""Cutting text where its parts end: sections of Markdown, then paragraphs, then lines; fences stay closed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256

from cm_tui.engine import tokenizer

MARK = "…"
"""Stands where something was cut off."""
_FENCE = re.compile(r"^ {0,3}(`{3,}(?!.*`)|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s")
_LEAST = 80
"""Characters of a part that is looked for elsewhere: shorter ones repeat by nature."""


def blocks(text: str) -> list[str]:
    """Return the parts of a text, which joined by blank lines are it again: fences whole, headings with what follows them."""
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
        fence = _fence_after(fence, line)
    return ["\n".join(lines) for lines in found if any(line.strip() for line in lines)]


def _fence_after(fence: str, line: str) -> str:
    """Return the fence that is open after a line; empty: none is.

    Args:
        fence: the one that is open before it.
        line: the next one.
    """
    opened = _FENCE.match(line)
    if not fence:
        return opened[1] if opened else ""
    closes = opened is not None and opened[1].startswith(fence) and line.strip() == opened[1]
    return "" if closes else fence


def joined(parts: Sequence[str]) -> str:
    """Return parts as one text."""
    return "\n\n".join(parts)


def within(text: str, most: int) -> str:
    """Return the beginning of a text that costs at most so many tokens, cut where a part ends, with a mark.

    Where the first part alone is too long it is cut at the end of a line; where not even a line fits, nothing is left.

    Args:
        text: Markdown.
        most: tokens.
    """
    if most <= 0:
        return ""
    if tokenizer.count(text) <= most:
        return text
    parts = blocks(text)
    kept = _longest([joined([*parts[:number], MARK]) for number in range(1, len(parts))], most)
    return kept or _lines_of(parts[0] if parts else "", most)


def _lines_of(part: str, most: int) -> str:
    lines = part.split("\n")
    cuts = []
    fence = ""
    for number, line in enumerate(lines[:-1], 1):
        before, fence = fence, _fence_after(fence, line)
        if not fence or before:  # A fence with nothing in it says nothing.
            cuts.append("\n".join([*lines[:number], MARK, *([fence] if fence else [])]))
    return _longest(cuts, most)


def _longest(cuts: Sequence[str], most: int) -> str:
    """Return the longest of texts, each longer than the one before, that costs at most so many tokens."""
    low, high = 0, len(cuts)
    while low < high:
        middle = (low + high) // 2
        if tokenizer.count(cuts[middle]) <= most:
            low = middle + 1
        else:
            high = middle
    return cuts[low - 1] if low else ""


def digest(text: str) -> str:
    """Return what is the same for the same text."""
    return sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def without_known(text: str, known: dict[str, str], source: str) -> tuple[str, int, str]:
    """Return a text without the parts that another source has, how many those are, and one such source.

    Args:
        text: Markdown.
        known: sources by the digest of what they have; the parts that stay are added.
        source: whose text it is.
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
