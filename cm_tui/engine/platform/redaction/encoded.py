"""Runs of base64 (https://www.rfc-editor.org/rfc/rfc4648), and their content."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterator

from cm_tui.engine.platform.redaction.found import Found
from cm_tui.engine.platform.redaction.pattern import Pattern

_RUN = Pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+={0,2}+")
_KINDS_OF_SIGNS = (Pattern(r"[A-Z]"), Pattern(r"[a-z]"), Pattern(r"\d"))
"""Signs that base64 of a text has all of; names in programs have digits seldom."""
_TO_STANDARD = str.maketrans("-_", "+/")
_TEXT = 0.7
"""Share of printable signs from which bytes are worth reading as a text."""
_UNPRINTABLE = bytes(range(9)) + bytes(range(14, 32)) + bytes(range(127, 256))


def find_encoded(text: str, find: Callable[[str], Iterator[Found]]) -> Iterator[Found]:
    """Yield runs of base64 that contain a secret, each as a whole.

    `text`: the text to search; `find`: finds secrets in decoded content.
    """
    for run in _RUN.finditer(text):
        if not all(signs.search(run[0]) for signs in _KINDS_OF_SIGNS):
            continue
        kind = _held(run[0].rstrip("="), find)
        if kind:
            yield Found(*run.span(), kind)


def _held(run: str, find: Callable[[str], Iterator[Found]]) -> str:
    """Return the kind of a secret in a run; empty: none. Text before the run may have joined it, as in a path."""
    standard = run.translate(_TO_STANDARD)
    for offset in range(4):
        part = standard[offset:]
        # A character beyond whole bytes belongs to the text after it.
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        held = b64decode(part + "=" * (-len(part) % 4))
        if len(held.translate(None, _UNPRINTABLE)) < _TEXT * len(held):
            continue
        found = next(find(held.decode("utf-8", "replace")), None)
        if found is not None:
            return found.kind
    return ""
