"""Estimated token cost of a text, without any vendor's tokenizer.

The estimate uses the shape of the text: words are split where camelCase changes, digits go in threes, runs of
punctuation and line breaks with their indentation count by length. `docs/packs.md` documents its error.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

# Begins only where blanks begin: a long run of them would be read once for each of its characters.
_BREAK_SIGNS = re.compile(r"(?<!\s)\s*\n[ \t]*")
_PIECE = re.compile(
    r"(?P<word>[A-Za-z]+)|(?P<digits>[0-9]{1,3})|(?P<blank>\s+)"
    r"|(?P<other>[^\x00-\x7f])|(?P<marks>[^\sA-Za-z0-9\x80-\U0010ffff]+)"
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+")

# Least-squares weights against two public byte-pair vocabularies, raised by about a twelfth, so that a pack that should
# fit does fit.
_WORD, _LONG_LETTER, _DIGITS, _BREAK, _BLANK, _OTHER, _MARKS, _MORE_MARKS = 1.0, 0.11, 1.6, 1.6, 0.3, 1.6, 0.6, 0.55
_SHORT_WORD = 6
_SHORT_MARKS = 2
_LONG_LINE = 400
"""Characters of a line whose weight is not kept."""

ROUNDING = 1e-6
"""Sums of the same weights in another order differ in the last bits; that must not make a token."""


def weight(text: str) -> float:
    """Estimated tokens, unrounded: the weights of two texts add up at a line break."""
    lines = _BREAK_SIGNS.split(text)
    return sum(_kept(line) if len(line) <= _LONG_LINE else _line(line) for line in lines) + _BREAK * (len(lines) - 1)


def _line(text: str) -> float:
    total = 0.0
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        length = piece.end() - piece.start()
        if kind == "word":
            total += _word(piece.group())
        elif kind == "marks":
            total += _MARKS + _MORE_MARKS * max(0, length - _SHORT_MARKS)
        elif kind == "blank":
            total += _BLANK if length > 1 else 0.0
        else:
            total += _DIGITS if kind == "digits" else _OTHER
    return total


# Pieces that grow or are tried in several widths have most lines in common.
_kept = lru_cache(maxsize=1 << 13)(_line)


def tokens(text: str) -> int:
    """Estimated tokens of a text, rounded up."""
    return math.ceil(weight(text) - ROUNDING)


@lru_cache(maxsize=1 << 14)
def _word(word: str) -> float:
    parts = _PART.findall(word)
    return sum(_WORD + _LONG_LETTER * max(0, len(part) - _SHORT_WORD) for part in parts)
