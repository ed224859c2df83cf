"""Possible secrets in stored texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cm_tui.engine.platform.journal.event import Problem
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.redact import BEYOND

_PIECE = 1_000_000
_SHORT, _KEPT = 100, 20_000
_clean: set[str] = set()
"""Short texts that hold none: names, ids, paths and agents come again with every event, and make half of the work."""


def texts_of_problem(journal: Journal, problem: Problem) -> Iterator[str]:
    """Yield an invalid line of unknown length in overlapping pieces."""
    with journal.file(problem.position.segment).open("rb") as file:
        file.seek(problem.position.offset)
        left = problem.bytes
        tail = b""
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            left -= len(piece)
            text = (tail + piece).decode("utf-8", "replace")
            # Invalid JSON may still be most of an event, with escaped line ends and quotes.
            yield text.replace("\\n", "\n").replace('\\"', '"')
            tail = piece[-BEYOND:]


def found_in(text: str) -> list[Found]:
    """Return what looks like a secret in a text."""
    short = len(text) <= _SHORT
    if short and text in _clean:
        return []
    found = list(find(text))
    if short and not found:
        if len(_clean) >= _KEPT:
            _clean.clear()
        _clean.add(text)
    return found


def kinds_in(texts: Iterator[str]) -> Counter[str]:
    """Return the number of secrets in some texts by kind."""
    return Counter(one.kind for text in texts for one in found_in(text))


def secrets_in(texts: Iterator[str]) -> set[str]:
    """Return what looks like a secret in some texts."""
    return {text[one.start : one.end] for text in texts for one in found_in(text)}
