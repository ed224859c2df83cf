"""Lines with a prefix, as in a diff or quotation: the text without prefixes, and the mapping back."""

from __future__ import annotations

from itertools import accumulate

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.view import Piece, View

_SIGNS = "+->| "
_TWO_LINES = Pattern(r"(?:\A|\n)(?:(?P<sign>[+>|])|-(?! ))[^\n]*\n(?(sign)(?P=sign)|-(?! ))")
"""Two lines with the same sign, one below the other; neither an indent is one, nor what begins the items of a list."""
_BEGINS = ("\n+", "\n>", "\n|", "\n-")
"""One of them is in every text with two such lines."""


def unmarked(text: str) -> View | None:
    """Return a text without the prefixes of its lines; None: it has none."""
    if not any(begin in text for begin in _BEGINS) or _TWO_LINES.search(text) is None:
        return None
    lines = text.split("\n")
    plain = [line[1:] if line[:1] in _SIGNS and line else line for line in lines]
    begins = accumulate((len(line) + 1 for line in plain[:-1]), initial=0)
    origins = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
    pieces = (
        Piece(begin, origin + len(line) - len(bare))
        for begin, origin, line, bare in zip(begins, origins, lines, plain, strict=True)
    )
    return View("\n".join(plain), tuple(pieces))
