"""Redaction of a record: every text in it, at any depth, except for exact fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.marked_lines import unmarked
from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.redaction.repeated import values_in
from cm_tui.engine.platform.redaction.split_keys import without_split_keys
from cm_tui.engine.platform.redaction.values import texts_of

_APART = "\n;\n"
"""Separator of texts that are searched together: no match and no broken line crosses it."""
_OPENS = Pattern(r"[=:(>]\s{0,40}[a-zA-Z]{0,2}\\{0,7}['\"`]")
"""The quotation mark before a value."""
_NEAR = 100


def redact_record(record: Mapping[str, Any], exact: Collection[str] = ()) -> tuple[dict[str, Any], int]:
    """Return a record with secrets redacted in its texts and field names, and their number.

    `record`: a JSON value; `exact`: fields of the record itself that are unchanged.
    """
    record, split = without_split_keys(record, exact)
    texts = list(texts_of({key: value for key, value in record.items() if key not in exact}))
    if not any(next(find(look), None) for look in _looks(texts)):
        return dict(record), split
    known: dict[str, str] = {}
    for text in texts:
        known |= values_in(text, find(text))
    count = split

    def clean(value: Any) -> Any:
        nonlocal count
        if isinstance(value, str):
            done = redact(value, known=known)
            count += done.secrets
            return done.text
        if isinstance(value, Mapping):
            return {clean(key): clean(inner) for key, inner in value.items()}
        return [clean(inner) for inner in value] if isinstance(value, (list, tuple)) else value

    cleaned = {
        (key if key in exact else clean(key)): (value if key in exact else clean(value))
        for key, value in record.items()
    }
    return cleaned, count


def _looks(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts of a record as few long ones: most records have no secret, and many short texts."""
    plain: list[str] = []
    marked: list[str] = []
    for text in dict.fromkeys(texts):
        if not text or text.isspace():
            continue
        if _may_end_open(text):
            # Where a text ends, a quotation ends too: with another one behind it, it would not.
            yield text
            continue
        # Lines with signs before them are looked through twice.
        (plain if unmarked(text) is None else marked).append(text)
    yield from (_APART.join(group) for group in (plain, marked) if group)


def _may_end_open(text: str) -> bool:
    """Whether a value in quotation marks begins in the last line."""
    line = text.rfind("\n")
    return any(found.end() > line for found in _OPENS.finditer(text, max(0, line - _NEAR)))
