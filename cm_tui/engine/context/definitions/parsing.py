"""Reading a document of either format from the bytes of a file."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from cm_tui.engine.context.definitions import yaml_document
from cm_tui.engine.context.definitions.document import (
    HALF,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NODES,
    Document,
    DocumentError,
    Place,
)

# --- JSON with the place of every key and value; stricter than Python's: unique keys, no NaN, a bounded depth ---

_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)')
_NOT_YAML = re.compile("[^\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Characters that a text in YAML does not have, or that end a line there."""
_MESSAGES = {
    "Extra data": "there is data after the end",
    "Expecting ',' delimiter": "a `,` or a `}` or a `]` is expected here",
    "Expecting ':' delimiter": "a `:` is expected here",
    "Expecting value": "a value is expected here",
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
    return yaml_document.parse(_NOT_YAML.sub(lambda one: chr(0xE000 + ord(one[0]) % 0x1900), plain))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refused(_: str) -> Any:
    raise ValueError("a number is expected here")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large")
    return value


def _check(value: Any, room: list[int], depth: int = 0) -> None:
    """Raise ValueError where a limit is exceeded; `room` has how many more values there may be."""
    room[0] -= 1
    if depth > MAX_DEPTH or room[0] < 0:
        raise ValueError(f"it is nested more than {MAX_DEPTH} deep, or has more than {MAX_NODES:,} values")
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
        raise DocumentError(Place(1, 1), "the file is empty", "`cm context new` writes one to begin with.")
    return parse_json(text) if is_json else yaml_document.parse(text)


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise DocumentError(Place(1, 1), f"the file has more than {MAX_BYTES:,} bytes", "Part it into several files.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - (before.rfind(b"\n") + 1) + 1)
        raise DocumentError(place, "this is no UTF-8", "Save the file as UTF-8.") from error
