"""A session in one JSON document with a list of messages, read up to the first damage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from cm_tui.engine.memory.transcripts.lines import Line, as_record

DOCUMENT_BYTES = 100_000_000
"""Of a larger document only so much is read."""
_DECODER = json.JSONDecoder()
_MESSAGES = re.compile(r'"messages"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,\0]*")
_SHOWN = 20_000
_CUT = "cut off or damaged: a message, and all behind it"


def is_document(file: Path) -> bool:
    """Return whether a transcript is one document, by its name."""
    return file.name.removesuffix(".gz").endswith(".json")


def document_head(stream: BinaryIO, messages: int) -> Iterator[Mapping[str, Any]]:
    """Yield the fields before the messages, as one record, then the first messages.

    Raises OSError if it cannot be read.
    """
    yield from (line.record for line in islice(document_lines(stream), messages))


def document_lines(stream: BinaryIO) -> Iterator[Line]:
    """Yield the fields before the messages as one record, each message by its number, then the later fields.

    Reading ends where the document is cut off or damaged. Raises OSError if it cannot be read.
    """
    data = stream.read(DOCUMENT_BYTES)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    found = _MESSAGES.search(text)
    if found is None:
        record = _object(text)
        yield Line(0, 0, record, "" if record else "not a record", text[:_SHOWN].encode("utf-8", "replace"))
        return
    yield Line(0, 0, _object(text[: found.end()] + "]}"))
    at, number = _behind_blanks(text, found.end()), 0
    while at < len(text) and text[at] != "]":
        try:
            record, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError, MemoryError):
            yield Line(number, number + 1, {}, _CUT, text[at : at + _SHOWN].encode("utf-8", "replace"))
            return
        yield Line(number, number + 1, as_record(record), "" if isinstance(record, dict) else "not a record")
        number, at = number + 1, _behind_blanks(text, at)
    if at >= len(text):
        yield Line(number, number + 1, {}, _CUT)
    elif rest := _object("{" + text[at + 1 :].lstrip(" \r\n\t,")):
        yield Line(number, number, rest)


def _behind_blanks(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _object(text: str) -> Mapping[str, Any]:
    try:
        return as_record(json.loads(text))
    except (ValueError, RecursionError, MemoryError):
        return {}
