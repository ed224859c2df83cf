"""Headings of Markdown, read by lines: notes are many, and small."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cm_tui.engine.code.parse.markdown import Heading
from cm_tui.engine.code.parse.normalise import MAX_SIGNATURE, fold
from cm_tui.model.text import fence_after

_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_MARKS = re.compile(r"`+|(?<!\w)[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?!\w)|!?\[([^\]]*)\]\([^)]*\)")
_LONGEST = 1_000
"""Characters of a line that are read as a heading: the patterns take the square of their time on blanks and brackets."""


def headings(lines: Sequence[str]) -> Iterator[Heading]:
    """Yield the headings of a note in order, except in code."""
    fence = ""
    for row, line in enumerate(lines):
        before, fence = fence, fence_after(fence, line)
        if before or fence:
            continue
        if title := _ATX.fullmatch(line[:_LONGEST]):
            if name := _plain(title[2]):
                yield Heading(row, len(title[1]), name)
        elif row and _UNDERLINE.fullmatch(line) and _is_title(lines, row - 1):
            yield Heading(row - 1, 1 if "=" in line else 2, _plain(lines[row - 1]))


def first_heading(lines: Sequence[str]) -> str:
    """Return the text of the first heading; empty: no heading."""
    return next((one.name for one in headings(lines)), "")


def _is_title(lines: Sequence[str], row: int) -> bool:
    """Return whether a line is the only line of text above a rule."""
    line = lines[row]
    alone = row == 0 or not lines[row - 1].strip()
    return (
        alone and line.strip() != "" and not line.lstrip().startswith(("#", ">", "- ", "* ", "|")) and "|" not in line
    )


def _plain(text: str) -> str:
    return fold(_MARKS.sub(lambda mark: mark[1] or "", text[:_LONGEST]), MAX_SIGNATURE)
