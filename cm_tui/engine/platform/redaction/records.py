"""Redaction of a record: every text in it, at any depth, except for exact fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.redaction.repeated import values_in
from cm_tui.engine.platform.redaction.split_keys import without_split_keys
from cm_tui.engine.platform.redaction.values import texts_of, with_texts


def redact_record(record: Mapping[str, Any], exact: Collection[str] = ()) -> tuple[dict[str, Any], int]:
    """Return a record with secrets redacted in its texts and field names, and their number.

    `record`: a JSON value; `exact`: fields of the record itself that are unchanged.
    """
    record, split = without_split_keys(record, exact)
    texts = list(texts_of({key: value for key, value in record.items() if key not in exact}))
    found = {text: list(find(text)) for text in dict.fromkeys(texts)}
    if not any(found.values()):
        return dict(record), split
    known: dict[str, str] = {}
    for text, spans in found.items():
        known |= values_in(text, spans)
    count = split

    def clean(text: str) -> str:
        nonlocal count
        done = redact(text, known=known)
        count += done.secrets
        return done.text

    cleaned = {
        (key if key in exact else clean(key)): (value if key in exact else with_texts(value, clean, names=True))
        for key, value in record.items()
    }
    return cleaned, count
