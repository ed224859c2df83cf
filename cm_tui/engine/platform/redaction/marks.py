"""Marks in the place of secrets in a text: their number, and a note about it."""

from __future__ import annotations

import re

from cm_tui.counts import count, noun

_MARK = r"\[redacted: [^\[\]\n]{1,40}\]"
# A secret of several lines leaves a mark on each of them.
_SECRET = re.compile(rf"({_MARK})(?:\s*\n[^\w\[\n]*\1)*")


def count_marks(text: str) -> int:
    """Count the secrets redacted in a text; marks on consecutive lines belong to one."""
    return sum(1 for _ in _SECRET.finditer(text)) if "[redacted: " in text else 0


def note_on_marks(text: str) -> tuple[str, ...]:
    """Return a message on the secrets redacted from a text; empty: none."""
    secrets = count_marks(text)
    if not secrets:
        return ()
    return (f"{count(secrets, 'secret')} {noun(secrets, 'was', 'were')} redacted.",)


def has_marks(text: str) -> bool:
    """Return whether a text contains a mark."""
    return "[redacted: " in text and re.search(_MARK, text) is not None
