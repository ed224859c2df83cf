"""Repetitions of known secrets without any other sign of being secret."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.kinds import DONE
from cm_tui.engine.platform.redaction.placeholders import is_placeholder
from cm_tui.engine.platform.redaction.strength import is_mixed

_SHORTEST, _LONGEST = 8, 4_000
_MOST = 100
"""Most values to search, as each takes time proportional to the text."""


def values_in(text: str, spans: Iterable[Found]) -> dict[str, str]:
    """Return the kinds of findings by value, for values long enough to differ from a word."""
    values: dict[str, str] = {}
    for span in spans:
        value = text[span.start : span.end].strip()
        if len(values) < _MOST and _is_own(value):
            values.setdefault(value, span.kind)
    return values


def find_repeated(text: str, values: Mapping[str, str], begins: Collection[int]) -> Iterator[Found]:
    """Yield occurrences of values as separate words.

    `text`: the text to search; `values`: kinds by value; `begins`: starts of earlier findings.
    """
    for value, kind in values.items():
        at = text.find(value)
        while at >= 0:
            end = at + len(value)
            before, behind = text[max(0, at - 1) : at], text[end : end + 1]
            inside = (before.isalnum() and value[0].isalnum()) or (behind.isalnum() and value[-1].isalnum())
            if not inside and at not in begins:
                yield Found(at, end, kind)
            at = text.find(value, end)


def _is_own(value: str) -> bool:
    return (
        _SHORTEST <= len(value) <= _LONGEST
        and "\n" not in value
        and is_mixed(value)
        and not is_placeholder(value)
        and DONE.search(value) is None
    )
