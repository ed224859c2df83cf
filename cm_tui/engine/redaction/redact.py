"""Redaction: secrets are replaced before any text of a person or an agent is stored.

Any text may come, as long as it likes: nothing in this room takes more than a number of steps in proportion to its length.
What can be repeated is bounded, or a possessive character (`*+`), and begins where nothing of its own kind stands before it;
no group is possessive: Python before 3.11.5 takes them to mean something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from cm_tui.engine.redaction.find import find
from cm_tui.engine.redaction.pattern import Pattern

BEYOND = 4_000
"""Who keeps a part of a text gives so much more of it to `redact`: a secret at the cut is then still seen whole."""
_ROUNDS = 4
_LINE_END = Pattern(r"(\r?\n[ \t]*(?:[+>|#-][ \t]*)?)")


class Redacted(NamedTuple):
    """A text without the secrets that were recognised, and how many there were."""

    text: str
    secrets: int


def redact(text: str, limit: int | None = None, known: Mapping[str, str] | None = None) -> Redacted:
    """Replace what looks like a secret by `[redacted: KIND]`; the text keeps its number of lines.

    Args:
        text: what is looked through.
        limit: how much of it is kept; what stands behind helps to see a secret that is cut there.
        known: kinds of secrets that stand elsewhere, by their values.
    """
    clean = _once(text, len(text) if limit is None else limit, known)
    secrets = clean.secrets
    for _ in range(_ROUNDS):
        if not clean.secrets:
            break
        # What stood beside a secret may be one itself, now that it is seen alone.
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
    """Return what stands for a secret: one mark a line, behind the indent or the sign of a diff that the line has."""
    if "\n" not in secret:
        return f"[redacted: {kind}]"
    ends = _LINE_END.split(secret)
    return "".join(piece if number % 2 else f"[redacted: {kind}]" for number, piece in enumerate(ends))
