"""Redaction of a record: every text in it, at whatever depth, but for what must stay exact."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cm_tui.engine.redaction.find import find
from cm_tui.engine.redaction.redact import redact
from cm_tui.engine.redaction.repeated import values_in
from cm_tui.engine.redaction.values import texts_of

_APART = "\n.\n"
"""Between texts that are looked through in one go: nothing reaches over it."""


def redact_record(record: Mapping[str, Any], exact: Collection[str] = ()) -> tuple[dict[str, Any], int]:
    """Return a record without secrets in its texts and in the names of its fields, and how many there were.

    Args:
        record: what JSON can hold.
        exact: fields of the record itself that stay as they are.
    """
    texts = list(texts_of({key: value for key, value in record.items() if key not in exact}))
    # One look at all of them: most records have nothing, and many short texts.
    if not any(map(str.strip, texts)) or (len(texts) > 1 and next(find(_APART.join(texts)), None) is None):
        return dict(record), 0
    known: dict[str, str] = {}
    for text in texts:
        known |= values_in(text, find(text))
    count = 0

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
