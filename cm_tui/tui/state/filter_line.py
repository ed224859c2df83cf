"""A line that filters a list: words, and fields such as `since:7d`, apart."""

from __future__ import annotations


def pieces_of(text: str) -> list[str]:
    """Split a line at blanks that stand outside of double quotes."""
    pieces, piece, quoted = [], "", False
    for one in text:
        quoted ^= one == '"'
        if one.isspace() and not quoted:
            pieces.append(piece)
            piece = ""
        else:
            piece += one
    return [one for one in (*pieces, piece) if one]
