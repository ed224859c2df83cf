r"""Joining lines that were broken in the middle of a word, with the mapping back to the text.

A terminal breaks at its last column, a shell line ends in a backslash, quoted-printable mail in `=`, configuration
continues in an indented line, a diff puts a sign before each line, JSON writes `\n`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.strength import goes_on

_INSIDE = r"[A-Za-z0-9+/_.~=:@%$-]"
_BREAK = Pattern(
    rf"(?<={_INSIDE})(?P<mark>\\|=)?(?P<end>\r?\n|\\{{1,4}}r?\\{{0,4}}n)(?P<sign>[+>|#-]{{0,3}})[ \t]{{0,100}}+(?={_INSIDE})"
)
_BEGINS = Pattern(r"[\\=\r\n]")
"""First characters of a break."""
_NAMED = Pattern(r"[A-Za-z_][\w.-]*+=[^=]")
_WORDS_END = Pattern(r"[A-Za-z0-9+/_~=.%-]*+")


class Joined(NamedTuple):
    """A text without its breaks."""

    text: str
    at: list[int]
    """Where in it a break was, in order."""
    taken: list[int]
    """How much was taken out up to and with each of them."""
    sure: list[bool]
    """Whether a break marks the line as continued."""

    def breaks(self, start: int, end: int) -> range:
        """Return which breaks lie inside of a part."""
        return range(bisect_right(self.at, start), bisect_right(self.at, end - 1))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the part of the original text for a part of this one."""
        before, upto = bisect_right(self.at, start), bisect_right(self.at, end - 1)
        return start + (self.taken[before - 1] if before else 0), end + (self.taken[upto - 1] if upto else 0)

    def goes_on(self, number: int) -> bool:
        """Return whether the text after a break may be a continuation; otherwise nothing before it is incomplete."""
        return self.sure[number] or goes_on(self.word_at(self.at[number]))

    def word_at(self, start: int) -> str:
        """Return the text at a place up to the end of the word; empty if it is a separate name."""
        found = _WORDS_END.match(self.text, start, start + 400)
        if found is None or self.text[found.end() : found.end() + 1] in {":", "("} or _NAMED.match(found[0]):
            return ""
        return found[0]


def join(text: str) -> Joined | None:
    """Return a text without breaks that may be within a word; None: there are none."""
    pieces: list[str] = []
    at: list[int] = []
    taken: list[int] = []
    sure: list[bool] = []
    last = length = 0
    for found in _BREAK.from_signs(_BEGINS, text):
        start, end = found.start(), found.end()
        marks = _marks(found["sign"], text, start)
        if marks < len(found["sign"]):
            # Not the mark of a diff or a quotation, but a part of the word.
            end = found.start("sign") + marks
        piece = text[last:start]
        pieces.append(piece)
        length += len(piece)
        at.append(length)
        taken.append(end - start)
        sure.append(found["mark"] == "\\" and "\n" in found["end"])
        last = end
    if not at:
        return None
    pieces.append(text[last:])
    return Joined("".join(pieces), at, list(accumulate(taken)), sure)


def _marks(signs: str, text: str, at: int) -> int:
    """Number of characters at the beginning of a line that the line before, which ends at a place, begins with, too."""
    if not signs:
        return 0
    line = text.rfind("\n", max(0, at - 2_000), at) + 1
    before = text[line : line + len(signs)]
    return next((number for number in range(len(signs), 0, -1) if before.startswith(signs[:number])), 0)
