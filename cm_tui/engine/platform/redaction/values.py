"""The texts in a value that JSON can hold: looked at, and redacted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cm_tui.engine.platform.redaction.redact import redact


def redact_values(value: Any) -> Any:
    """Return the value with possible secrets redacted in every text; names are unchanged."""
    return with_texts(value, lambda text: redact(text).text)


def texts_of(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, including names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from texts_of(name)
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def with_texts(value: Any, change: Callable[[str], str], *, names: bool = False) -> Any:
    """Return the value with every text changed.

    `value`: a JSON value; `change`: maps each text to its new one; `names`: include the names of fields.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {
            (change(name) if names else name): with_texts(item, change, names=names) for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [with_texts(item, change, names=names) for item in value]
    return value
