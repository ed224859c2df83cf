"""JSON with the place of every key and value; stricter than Python's: unique keys, no NaN, a bounded depth."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any

from cm_tui.engine.context.definitions.document import (
    HALF,
    MAX_DEPTH,
    MAX_NODES,
    Document,
    DocumentError,
    Path,
    Place,
    is_text,
)

_BLANK = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_LONGEST_NUMBER = 40
_DECODER = json.JSONDecoder()


def parse(text: str) -> Document:
    """Read JSON.

    Raises:
        DocumentError: it is invalid, has a key twice, or exceeds a limit.
    """
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._found = Document()
        self._nodes = 0

    def document(self) -> Document:
        """Read all of it."""
        self._found.value, end = self._value(self._skip(0), ())
        end = self._skip(end)
        if end < len(self._text):
            raise self._error(end, "there is data after the end", "A file holds one value.")
        return self._found

    def _value(self, at: int, path: Path) -> tuple[Any, int]:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._error(at, f"there are more than {MAX_NODES:,} values")
        if len(path) > MAX_DEPTH:
            raise self._error(at, f"it is nested more than {MAX_DEPTH} deep")
        self._found.values[path] = self._place(at)
        sign = self._text[at : at + 1]
        if sign == "{":
            return self._object(at + 1, path)
        if sign == "[":
            return self._array(at + 1, path)
        if sign == '"':
            return self._string(at)
        for word, value in _WORDS.items():
            if self._text.startswith(word, at):
                return value, at + len(word)
        return self._number(at)

    def _number(self, at: int) -> tuple[Any, int]:
        found = _NUMBER.match(self._text, at)
        if found is None:
            what = self._text[at : at + 1]
            hint = "Write texts in double quotes." if what.isalpha() or what == "'" else ""
            raise self._error(at, f"a value is expected here, not {what!r}" if what else "it ends too early", hint)
        if len(found[0]) > _LONGEST_NUMBER:
            raise self._error(at, "this number is too long")
        value = float(found[0]) if found[1] or found[2] else int(found[0])
        if value in (float("inf"), float("-inf")):
            raise self._error(at, "this number is too large")
        return value, found.end()

    def _string(self, at: int) -> tuple[str, int]:
        try:
            value, end = _DECODER.raw_decode(self._text, at)
        except json.JSONDecodeError as error:
            raise self._error(error.pos, error.msg.lower().rstrip(" at:")) from error
        if not is_text(value):
            raise self._error(at, HALF, "Write the letter itself.")
        return str(value), end

    def _object(self, at: int, path: Path) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        at = self._skip(at)
        if self._text[at : at + 1] == "}":
            return found, at + 1
        while True:
            if self._text[at : at + 1] != '"':
                raise self._error(at, "a key in double quotes is expected here", "Remove the comma before `}`.")
            begin = at
            key, at = self._string(at)
            if key in found:
                first = self._found.keys[(*path, key)]
                raise self._error(begin, f"{key!r} is repeated here", f"It is in line {first.line} already.")
            self._found.keys[(*path, key)] = self._place(begin)
            at = self._skip(at)
            if self._text[at : at + 1] != ":":
                raise self._error(at, "a `:` is expected here")
            found[key], at = self._value(self._skip(at + 1), (*path, key))
            at, is_last = self._next(at, "}")
            if is_last:
                return found, at

    def _array(self, at: int, path: Path) -> tuple[list[Any], int]:
        found: list[Any] = []
        at = self._skip(at)
        if self._text[at : at + 1] == "]":
            return found, at + 1
        while True:
            value, at = self._value(at, (*path, len(found)))
            found.append(value)
            at, is_last = self._next(at, "]")
            if is_last:
                return found, at

    def _next(self, at: int, end: str) -> tuple[int, bool]:
        at = self._skip(at)
        sign = self._text[at : at + 1]
        if sign == end:
            return at + 1, True
        if sign != ",":
            raise self._error(at, f"a `,` or a `{end}` is expected here")
        return self._skip(at + 1), False

    def _skip(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _place(self, at: int) -> Place:
        line = bisect_right(self._starts, at)
        return Place(line, at - self._starts[line - 1] + 1)

    def _error(self, at: int, message: str, hint: str = "") -> DocumentError:
        return DocumentError(self._place(min(at, len(self._text))), message, hint)
