r"""A text as displayed, with pieces of the source removed or replaced, and the mapping back to the source.

Removed are the prefixes of lines, as in a diff or quotation; replaced are terminal colours, invisible characters, `\\n`,
`\\/`, `%3D`, `\\u003d` and `&quot;`. Sources: https://ecma-international.org/publications-and-standards/standards/ecma-48/
(control sequences), https://www.rfc-editor.org/rfc/rfc3986#section-2.1 (percent-encoding),
https://www.rfc-editor.org/rfc/rfc8259#section-7.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.model.text import INVISIBLE


class Piece(NamedTuple):
    """A contiguous part of the source in a view."""

    begin: int
    """Where it begins in the view."""
    origin: int
    """Where it begins in the text."""
    width: int = 1
    """Number of source characters for each of its characters."""


class View(NamedTuple):
    """A text with pieces taken out or replaced."""

    text: str
    pieces: tuple[Piece, ...]
    """In order, the first at 0."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of a non-empty part in the source, including removed text inside."""
        return self._at(start), self._at(end - 1, 1)

    def _at(self, position: int, behind: int = 0) -> int:
        piece = self.pieces[bisect_right(self.pieces, position, key=_begin) - 1]
        return piece.origin + (position - piece.begin + behind) * piece.width


def _begin(piece: Piece) -> int:
    return piece.begin


_SIGNS = "+->| "
_TWO_LINES = Pattern(r"(?:\A|\n)(?:(?P<sign>[+>|])|-(?! ))[^\n]*\n(?(sign)(?P=sign)|-(?! ))")
"""Two lines with the same sign, one below the other; neither an indent is one, nor what begins the items of a list."""
_MARKED = ("\n+", "\n>", "\n|", "\n-")
"""One of them is in every text with two such lines."""


def unmarked(text: str) -> View | None:
    """Return a text without the prefixes of its lines; None: it has none."""
    if not any(begin in text for begin in _MARKED) or _TWO_LINES.search(text) is None:
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


_GONE = (
    r"(?P<gone>(?:\x1b|\\{1,4}(?:u001[bB]|x1[bB]|033|e))(?:\[[0-?]{0,60}+[ -/]{0,8}+[@-~]"
    rf"|\][^\x07\x1b\n]{{0,400}}+(?:\x07|\x1b\\))|{INVISIBLE.pattern})"
)
_CODE = r"(?:%|\\{1,4}u00|\\{1,4}x)(?P<code>0[AaDd9]|[2-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
_WIDE = {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\uff1a": "=", "\uff1d": "="}
# A wide colon has no space behind it: it is read as a sign that needs none.
_ENTITIES = {"&quot;": '"', "&#34;": '"', "&apos;": "'", "&#39;": "'", "&amp;": "&"}
_ENTITY = "|".join(_ENTITIES)
_WRITTEN = Pattern(rf"{_GONE}|{_CODE}|\\{{1,8}}(?P<letter>[nrt/])|(?P<wide>[{''.join(_WIDE)}]|{_ENTITY})")
_CAUSE = Pattern(rf"{_GONE}|{_CODE}|\\{{1,8}}(?:[nrt](?=[\w-])|/(?=\\{{1,8}}/))|[{''.join(_WIDE)}]|{_ENTITY}")
"""What makes a view worth it: a line end that is written out hides where a word begins, and nothing else."""
_BEGINS = Pattern(rf"[\x1b\\%&{''.join(_WIDE)}]|{INVISIBLE.pattern}")
"""What each of them begins with."""
_NEAR = 200
"""Characters before and behind that are looked at with it."""


def as_read(text: str) -> Iterator[View]:
    """Yield the parts of a text that are displayed differently, each with the lines around it."""
    for start, end in _parts(text):
        yield _view(text, start, end)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield whole lines around the causes of a view; adjacent parts are joined."""
    begin = end = -1
    for cause in _CAUSE.from_signs(_BEGINS, text):
        if begin >= 0 and cause.start() <= end:
            end = max(end, min(len(text), cause.end() + _NEAR))
            continue
        if begin >= 0:
            line = text.find("\n", end)
            end = len(text) if line < 0 else line
            if cause.start() <= end:
                end = min(len(text), cause.end() + _NEAR)
                continue
            yield begin, end
        begin = text.rfind("\n", max(end, 0), max(cause.start() - _NEAR, 0)) + 1
        begin = max(begin, end, 0)
        end = min(len(text), cause.end() + _NEAR)
    if begin >= 0:
        line = text.find("\n", end)
        yield begin, len(text) if line < 0 else line


def _view(text: str, start: int, end: int) -> View:
    parts: list[str] = []
    pieces: list[Piece] = []
    length, last = 0, start
    for found in _WRITTEN.from_signs(_BEGINS, text, start, end):
        if found.start() > last:
            pieces.append(Piece(length, last))
            parts.append(text[last : found.start()])
            length += found.start() - last
        if found["gone"] is None:
            pieces.append(Piece(length, found.start(), len(found[0])))
            parts.append(_read(found["code"], found["letter"], found["wide"]))
            length += 1
        last = found.end()
    pieces.append(Piece(length, last))
    parts.append(text[last:end])
    return View("".join(parts), tuple(pieces))


def _read(code: str | None, letter: str | None, wide: str | None) -> str:
    """Return the one displayed character."""
    if code is not None:
        return chr(int(code, 16))
    if wide is not None:
        return _WIDE.get(wide) or _ENTITIES[wide]
    return {"n": "\n", "r": "\r", "t": "\t"}.get(letter or "", "/")
