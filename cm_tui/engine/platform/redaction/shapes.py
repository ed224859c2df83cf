"""Secrets by shape alone, from the tables of shapes and detectors."""

from __future__ import annotations

from collections.abc import Iterator

from cm_tui.engine.platform.redaction.by_word import ByWord
from cm_tui.engine.platform.redaction.detectors import DETECTORS, Detector, patterns_of
from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern, compiled
from cm_tui.engine.platform.redaction.placeholders import is_placeholder, is_reference
from cm_tui.engine.platform.redaction.shape_table import SHAPES, SHORTEST, Shape

_FILLED = Pattern(r"[A-Za-z_-]{2,16}?[-_](?:x{8,}+|X{8,}+)")
_ALL: tuple[Detector | Shape, ...] = (*DETECTORS, *SHAPES)
_LONG = ByWord[Detector | Shape](one for one in _ALL if not one.is_short)
_SHORT = ByWord[Detector | Shape](one for one in _ALL if one.is_short)


def find_shaped(text: str) -> Iterator[Found]:
    """Yield values with the shape of a secret. `text`: the text to search."""
    for rule in _SHORT.wanted(text):
        for pattern in _patterns(rule):
            yield from _matches(rule.kind, pattern, text)
    # Nearly all of them are one long word, and most words of a text are short.
    long = "\n".join([word for word in text.split() if len(word) >= SHORTEST])
    for rule in _LONG.wanted(long) if long else ():
        for pattern in _patterns(rule):
            if compiled(pattern).search(long):
                yield from _matches(rule.kind, pattern, text)


def _patterns(rule: Detector | Shape) -> tuple[str, ...]:
    return (rule.pattern,) if isinstance(rule, Shape) else patterns_of(rule)


def _matches(kind: str, pattern: str, text: str) -> Iterator[Found]:
    for found in compiled(pattern).finditer(text):
        start, end = found.span("value" if "value" in found.re.groupindex else 0)
        value = text[start:end]
        if not (_is_example(value) or (kind == "password" and _is_no_password(value))):
            yield Found(start, end, kind)


def _is_example(value: str) -> bool:
    """Whether documentation has it in place of a key: `AKIA…EXAMPLE`, `sk-xxxxxxxx`."""
    return value.endswith("EXAMPLE") or _FILLED.fullmatch(value) is not None


def _is_no_password(value: str) -> bool:
    return len(value) < 3 or is_placeholder(value) or is_reference(value) or value[0] in "[({<%*"
