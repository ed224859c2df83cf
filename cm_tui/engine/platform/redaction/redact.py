"""Redaction: secrets are replaced before any text of a user or an agent is stored.

Texts are untrusted and of any length: everything in this package takes time linear in the length. Repetitions are
bounded, or of a possessive character (`*+`), and begin where no character of their kind precedes; no group is
possessive, as Python before 3.11.5 misinterprets them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from cm_tui.engine.platform.redaction.find import find
from cm_tui.engine.platform.redaction.pattern import Pattern

BEYOND = 4_000
"""Characters to give to `redact` beyond a cut, so that a secret at the cut is complete."""
_ROUNDS = 4
_LINE_END = Pattern(r"(\r?\n[ \t]*(?:[+>|#-][ \t]*)?)")


class Redacted(NamedTuple):
    """A text without the secrets that were recognised, and how many there were."""

    text: str
    secrets: int


def redact(text: str, limit: int | None = None, known: Mapping[str, str] | None = None) -> Redacted:
    """Replace possible secrets by `[redacted: KIND]`; the number of lines is unchanged.

    `text`: the text to search. `limit`: characters to keep; the text after that helps to find a secret at the cut.
    `known`: kinds of secrets from elsewhere, by value.
    """
    clean = _one_pass(text, len(text) if limit is None else limit, known)
    secrets = clean.secrets
    for _ in range(_ROUNDS):
        if not clean.secrets:
            break
        # Text next to a secret may be one itself, now that it is separate.
        clean = _one_pass(clean.text, len(clean.text))
        secrets += clean.secrets
    return Redacted(clean.text if limit is None or len(text) <= limit else clean.text[:limit], secrets)


def _one_pass(text: str, limit: int, known: Mapping[str, str] | None = None) -> Redacted:
    pieces: list[str] = []
    at = count = 0
    for span in find(text, known):
        if span.start >= limit:
            break
        pieces += [text[at : span.start], _mark(text[span.start : span.end], span.kind)]
        at = span.end
        count += 1
    pieces.append(text[at:limit])
    clean = "".join(pieces)
    return Redacted(clean if len(text) <= limit else clean[:limit], count)


def _mark(secret: str, kind: str) -> str:
    """Return the replacement of a secret: one mark per line, after the line's indent or diff sign."""
    if "\n" not in secret:
        return f"[redacted: {kind}]"
    ends = _LINE_END.split(secret)
    return "".join(piece if number % 2 else f"[redacted: {kind}]" for number, piece in enumerate(ends))


# --- the texts in a value that JSON can hold: looked at, and redacted ---


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
