"""Reading definitions strictly, within bounds, from either format, with the place of every key and value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

# --- strict, bounded reading of YAML and JSON, with the place of every key and value ---

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 200_000
HALF = "half of a surrogate pair, which is not a character"

Path = tuple[str | int, ...]
"""The keys and numbers that lead to a value; empty: the whole document."""


class Place(NamedTuple):
    """A place in the file, both numbers from 1."""

    line: int
    column: int


class DocumentError(Exception):
    """An invalid document.

    Args:
        place: of the mistake.
        message: the mistake.
        hint: how to fix it.
    """

    def __init__(self, place: Place, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.place = place
        self.message = message
        self.hint = hint


@dataclass(slots=True)
class Document:
    """Content of a file as plain values, with the place of each."""

    value: Any = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)
    unread: Callable[[], Document] | None = None
    """Reads the places on demand; None: they are known."""

    def place(self, path: Sequence[str | int]) -> Place:
        """Return the place of the value at a path, or the nearest one around it."""
        self._read_places()
        around = (self.values.get(tuple(path[:end])) for end in range(len(path), -1, -1))
        return next(filter(None, around), Place(1, 1))

    def key_place(self, path: Sequence[str | int]) -> Place:
        """Return the place of the key at the end of a path, else of the value."""
        self._read_places()
        return self.keys.get(tuple(path)) or self.place(path)

    def at(self, path: Sequence[str | int]) -> Any:
        """Return the value at a path; None: no value."""
        value: Any = self.value
        for part in path:
            if isinstance(value, list):
                value = value[part] if isinstance(part, int) and part < len(value) else None
            else:
                value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def inner(self, path: Path, value: Any) -> Document:
        """Return the part of a document at a path as a document."""
        self._read_places()
        size = len(path)
        cut = {
            name: {place[size:]: where for place, where in table.items() if place[:size] == path}
            for name, table in (("values", self.values), ("keys", self.keys))
        }
        return Document(value, cut["values"], cut["keys"])

    def _read_places(self) -> None:
        if self.unread is not None:
            read, self.unread = self.unread, None
            with suppress(DocumentError):  # Of its places, not of its content: they are then the beginning.
                found = read()
                self.values, self.keys = found.values, found.keys


# --- YAML with the place of every key and value: no anchors, tags, merge keys or tabs, unique keys, bounded ---
# Scalars follow YAML 1.2's core schema: `yes`, `no`, `on` and dates are text.

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE, _FALSE = frozenset({"true", "True", "TRUE"}), frozenset({"false", "False", "FALSE"})
_INT = re.compile(r"[-+]?\d{1,30}")
_FLOAT = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d{1,3})?")
_LONGEST_NUMBER = 40


def parse_yaml(text: str) -> Document:
    """Read YAML.

    Raises:
        DocumentError: it is invalid, has a key twice, anchors, tags or tabs, or exceeds a limit.
    """
    found = Document()
    events = _events(text)
    try:
        found.value = _Builder(found, events).document()
    except yaml.MarkedYAMLError as error:
        raise _yaml_error(error) from error
    except (yaml.YAMLError, ValueError) as error:
        raise DocumentError(_of_reader(text, error), "a character here is not allowed in text") from error
    except RecursionError as error:
        raise DocumentError(Place(1, 1), f"nested more than {MAX_DEPTH} levels") from error
    return found


def _events(text: str) -> Iterator[yaml.Event]:
    depth = nodes = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        nodes += isinstance(event, yaml.NodeEvent)
        if depth > MAX_DEPTH:
            raise _error(event, f"nested more than {MAX_DEPTH} levels")
        if nodes > MAX_NODES:
            raise _error(event, f"more than {MAX_NODES:,} values")
        if isinstance(event, yaml.AliasEvent) or (isinstance(event, yaml.NodeEvent) and event.anchor):
            raise _error(event, "anchors and aliases are not supported", "Repeat the value.")
        if isinstance(event, yaml.ScalarEvent):
            try:  # Two escapes may name the halves of one character.
                event.value = str(event.value).encode("utf-16", "surrogatepass").decode("utf-16")
            except UnicodeDecodeError as error:
                raise _error(event, HALF, "Write the letter itself.") from error
        tag = getattr(event, "tag", None)
        if tag and tag != "!":
            raise _error(event, f"the tag {tag[:40]!r} is not supported", "Remove it.")
        yield event


class _Builder:
    def __init__(self, found: Document, events: Iterator[yaml.Event]) -> None:
        self._found = found
        self._events = events

    def document(self) -> Any:
        """Build the one document of a file."""
        for event in self._events:
            if isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
                continue
            if isinstance(event, yaml.StreamEndEvent):
                raise DocumentError(Place(1, 1), "the file is empty", "Start with `cm context new`.")
            value = self._node(event, ())
            break
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise _error(event, "a second document begins here", "A file contains one document.")
        return value

    def _node(self, event: yaml.Event, path: Path) -> Any:
        self._found.values[path] = _place(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        assert isinstance(event, yaml.ScalarEvent)
        return _scalar(event)

    def _mapping(self, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _error(event, "a key must be plain text")
            key = str(event.value)
            if key == "<<" and event.style is None:
                raise _error(event, "merge keys are not supported", "Repeat the values.")
            if key in found:
                first = self._found.keys[(*path, key)]
                raise _error(event, f"{key[:60]!r} is repeated here", f"It is already in line {first.line}.")
            self._found.keys[(*path, key)] = _place(event)
            found[key] = self._node(next(self._events), (*path, key))
        return found

    def _sequence(self, path: Path) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._node(event, (*path, len(found))))
        return found


def _scalar(event: yaml.ScalarEvent) -> Any:
    text = str(event.value)
    if event.style is not None:
        return text
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if len(text) <= _LONGEST_NUMBER:
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if value in (float("inf"), float("-inf")):
                raise _error(event, "this number is too large")
            return value
    return text


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)


def _error(event: yaml.Event, message: str, hint: str = "") -> DocumentError:
    return DocumentError(_place(event), message, hint)


def _yaml_error(error: yaml.MarkedYAMLError) -> DocumentError:
    mark = error.problem_mark or error.context_mark
    place = Place(mark.line + 1, mark.column + 1) if mark is not None else Place(1, 1)
    problem = error.problem or "not valid YAML"
    if "'\\t'" in problem or "\\t" in repr(problem):
        return DocumentError(place, "a tab instead of spaces", "Indent with spaces.")
    return DocumentError(place, problem, error.context or "")


def _of_reader(text: str, error: Exception) -> Place:
    at = getattr(error, "position", 0)
    at = at if isinstance(at, int) else 0
    return Place(text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1)


# --- JSON with the place of every key and value; stricter than Python's: unique keys, no NaN, a bounded depth ---

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
_NOT_YAML = re.compile("[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that a text in YAML does not have, or that end a line there."""
_MESSAGES = {
    "Extra data": "data after the end",
    "Expecting ',' delimiter": "expected `,`, `}` or `]` here",
    "Expecting ':' delimiter": "expected `:` here",
    "Expecting value": "expected a value here",
}


def parse_json(text: str) -> Document:
    """Read JSON.

    Raises:
        DocumentError: it is invalid, has a key twice, or exceeds a limit.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refused, parse_float=_finite)
        _check(value, [MAX_NODES])
    except json.JSONDecodeError as error:
        place = Place(error.lineno, error.colno)
        message = _MESSAGES.get(error.msg, error.msg.lower().removesuffix(" at"))
        raise DocumentError(place, message, "Write texts in double quotes, without a comma after the last.") from error
    except (ValueError, RecursionError) as error:
        _read_places(text)
        found = next((one for one in _CONSTANT.finditer(text) if one[1]), None)
        at = found.start() if found is not None else 0
        raise DocumentError(Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)), str(error)) from error
    return Document(value, unread=lambda: _read_places(text))


def _read_places(text: str) -> Document:
    """Read the places of keys and values; JSON is YAML, but for some characters."""
    # One character for one, so that places stay, and different ones for different ones, so that no key is there twice.
    plain = text.replace("\t", " ")
    return parse_yaml(_NOT_YAML.sub(lambda one: chr(0xE000 + ord(one[0]) % 0x1900), plain))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refused(_: str) -> Any:
    raise ValueError("expected a number here")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


def _check(value: Any, room: list[int], depth: int = 0) -> None:
    """Raise ValueError where a limit is exceeded; `room` has how many more values there may be."""
    room[0] -= 1
    if depth > MAX_DEPTH or room[0] < 0:
        raise ValueError(f"nested more than {MAX_DEPTH} levels, or has more than {MAX_NODES:,} values")
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(HALF) from None
    for one in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check(one, room, depth + 1)


# --- reading a document of either format from the bytes of a file ---


def parse(content: bytes, *, is_json: bool) -> Document:
    """Read a document.

    Args:
        content: the bytes of a file.
        is_json: read it as JSON, else as YAML.

    Raises:
        DocumentError: it is neither, or beyond the bounds.
    """
    text = _decoded(content)
    if not text.strip():
        raise DocumentError(Place(1, 1), "the file is empty", "Start with `cm context new`.")
    return parse_json(text) if is_json else parse_yaml(text)


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise DocumentError(Place(1, 1), f"the file has more than {MAX_BYTES:,} bytes", "Split it into several files.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        raise DocumentError(place, "not UTF-8", "Save the file as UTF-8.") from error
