r"""Text that is displayed differently: terminal colours, invisible characters, `\\n`, `%3D` and `\\u003d`.

Sources: https://ecma-international.org/publications-and-standards/standards/ecma-48/ (control sequences),
https://www.rfc-editor.org/rfc/rfc3986#section-2.1 (percent-encoding), https://www.rfc-editor.org/rfc/rfc8259#section-7.
"""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.view import Piece, View

_GONE = (
    r"(?P<gone>(?:\x1b|\\{1,4}(?:u001[bB]|x1[bB]|033|e))(?:\[[0-?]{0,60}+[ -/]{0,8}+[@-~]"
    r"|\][^\x07\x1b\n]{0,400}+(?:\x07|\x1b\\))|[\u200b-\u200d\u2060\ufeff])"
)
_CODE = r"(?:%|\\{1,4}u00|\\{1,4}x)(?P<code>0[AaDd9]|[2-6][0-9A-Fa-f]|7[0-9A-Ea-e])"
_WIDE = {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\uff1a": "=", "\uff1d": "="}
# A wide colon has no space behind it: it is read as a sign that needs none.
_WRITTEN = Pattern(rf"{_GONE}|{_CODE}|\\{{1,8}}(?P<letter>[nrt])|(?P<wide>[{''.join(_WIDE)}])")
_CAUSE = Pattern(rf"{_GONE}|{_CODE}|\\{{1,8}}[nrt](?=[\w-])|[{''.join(_WIDE)}]")
"""What makes a view worth it: a line end that is written out hides where a word begins, and nothing else."""
_BEGINS = Pattern(rf"[\x1b\\%\u200b-\u200d\u2060\ufeff{''.join(_WIDE)}]")
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
        return _WIDE[wide]
    return {"n": "\n", "r": "\r"}.get(letter or "", "\t")
