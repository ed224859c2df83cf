"""Redaction of a record: every text in it, at any depth, except for exact fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.pattern import Pattern
from cm_tui.engine.platform.redaction.redact import redact, texts_of, with_texts
from cm_tui.engine.platform.redaction.repeated import values_in

# --- private keys that are split over several texts: the first one has the beginning, later ones only lines ---

_SIGN = "PRIVATE KEY"
_EDGE = Pattern(r"-----(?P<edge>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_LINE = Pattern(
    r"(?P<before>[^A-Za-z0-9+/]{0,20}(?:\d{1,6}[^A-Za-z0-9+/]{1,4})?)(?=[a-z0-9+/]{0,200}[A-Z])(?=[A-Z0-9+/]{0,200}[a-z])"
    r"[A-Za-z0-9+/]{40,}={0,2}(?P<after>[^\w]{0,8})"
)
_LAST = Pattern(
    r"(?P<before>[^A-Za-z0-9+/]{0,20}(?:\d{1,6}[^A-Za-z0-9+/]{1,4})?)[A-Za-z0-9+/]{4,}={0,2}(?P<after>[^\w]{0,8})"
)
"""A short line directly behind one of a key."""
_LONGEST = 400
_MARK = "[redacted: private key]"


class SplitKeys:
    """Takes lines of a key out of texts that follow the one in which it begins."""

    def __init__(self) -> None:
        self.secrets = 0
        self._is_open = False

    def without(self, text: str) -> str:
        """Return a text without the lines of a key from an earlier one; the number of lines is unchanged."""
        edge = _EDGE.search(text) if _SIGN in text else None
        if self._is_open:
            end = len(text) if edge is None else edge.start()
            text = self._without_lines(text[:end]) + text[end:]
        for found in _EDGE.finditer(text) if edge is not None else ():
            self._is_open = found["edge"] == "BEGIN"
        return text

    def _without_lines(self, text: str) -> str:
        lines = text.split("\n")
        is_behind = False
        for number, line in enumerate(lines):
            pattern = _LAST if is_behind else _LINE
            found = pattern.fullmatch(line) if len(line) <= _LONGEST else None
            is_behind = found is not None
            if found is not None:
                lines[number] = f"{found['before']}{_MARK}{found['after']}"
                self.secrets += 1
        return "\n".join(lines)


def without_split_keys(record: Mapping[str, Any], exact: Collection[str] = ()) -> tuple[Mapping[str, Any], int]:
    """Return a record without the lines of keys that continue in later texts, and their number.

    `record`: a JSON value; `exact`: fields of the record itself that are unchanged.
    """
    if not _has_sign(value for name, value in record.items() if name not in exact):
        return record, 0
    keys = SplitKeys()
    clean = {name: value if name in exact else with_texts(value, keys.without) for name, value in record.items()}
    return clean, keys.secrets


def _has_sign(values: Iterable[Any]) -> bool:
    return any(_SIGN in text for value in values for text in texts_of(value))


# --- redaction of a record ---


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
