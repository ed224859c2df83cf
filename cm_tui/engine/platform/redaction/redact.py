"""Redaction: secrets are replaced before any text of a user or an agent is stored.

Texts are untrusted and of any length: everything in this package takes time linear in the length. Repetitions are
bounded, or of a possessive character (`*+`), and begin where no character of their kind precedes; no group is
possessive, as Python before 3.11.5 misinterprets them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

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
    clean = _once(text, len(text) if limit is None else limit, known)
    secrets = clean.secrets
    for _ in range(_ROUNDS):
        if not clean.secrets:
            break
        # Text next to a secret may be one itself, now that it is separate.
        clean = _once(clean.text, len(clean.text))
        secrets += clean.secrets
    return Redacted(clean.text if limit is None or len(text) <= limit else clean.text[:limit], secrets)


def _once(text: str, limit: int, known: Mapping[str, str] | None = None) -> Redacted:
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
