"""The marks that stand for secrets in a text: how many there are, and the note that says so."""

from __future__ import annotations

import re

from cm_tui.counts import count, noun

_MARK = r"\[redacted: [^\[\]\n]{1,40}\]"
# A secret of several lines leaves a mark on each of them.
_SECRET = re.compile(rf"({_MARK})(?:\s*\n[^\w\[\n]*\1)*")


def count_marks(text: str) -> int:
    """Count the secrets that were taken out of a text; marks on lines that follow each other are of one."""
    return sum(1 for _ in _SECRET.finditer(text)) if "[redacted: " in text else 0


def note_on_marks(text: str) -> tuple[str, ...]:
    """Return what has to be said of a text from which secrets were taken out; nothing where there are none."""
    secrets = count_marks(text)
    if not secrets:
        return ()
    return (f"{count(secrets, 'secret')} {noun(secrets, 'was', 'were')} redacted.",)


def has_marks(text: str) -> bool:
    """Return whether a mark stands in a text in the place of a secret."""
    return "[redacted: " in text and re.search(_MARK, text) is not None
