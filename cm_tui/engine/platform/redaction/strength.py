"""Randomness of a value: generated or strong secrets, against names and words."""

from __future__ import annotations

from cm_tui.engine.platform.redaction.pattern import Pattern

_PIECE = Pattern(r"[A-Za-z0-9+/=~!@#%^&*]+")
_CLASS = Pattern(r"[A-Z]+|[a-z]+|\d+|[^A-Za-z\d]+")
_LETTER, _DIGIT = Pattern(r"[^\W\d_]"), Pattern(r"\d")
_UUID = Pattern(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX = Pattern(r"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_LONGEST = 400
"""A value that is longer is judged by its beginning."""


def is_mixed(value: str) -> bool:
    """Return whether a value has letters and digits."""
    return bool(_LETTER.search(value) and _DIGIT.search(value))


def is_random(value: str) -> bool:
    """Return whether a piece of a value changes between letters, cases and digits more often than any name does."""
    return _UUID.fullmatch(value) is not None or any(
        _is_random_piece(piece) for piece in _PIECE.findall(value[:_LONGEST])
    )


def _is_random_piece(piece: str) -> bool:
    if len(piece) < 8:
        return False
    changes = len(_CLASS.findall(piece)) - 1
    if is_mixed(piece):
        return changes >= 3 or (len(piece) >= 16 and bool(_HEX.match(piece)))
    # Letters alone: a name in camel case changes twice a word, which has four letters and more.
    letters = sum(character.isalpha() for character in piece)
    return letters >= 16 and changes * 2.2 >= len(piece) - 1


def goes_on(piece: str) -> bool:
    """Return whether the beginning of a line looks like the rest of a random value."""
    if len(piece) < 4:
        return False
    changes = len(_CLASS.findall(piece[:_LONGEST])) - 1
    if is_mixed(piece):
        return changes >= 2 or len(piece) >= 8
    return len(piece) >= 6 and changes >= 3 and not piece.isupper() and any(map(str.isupper, piece[1:]))
