"""What a response without a daemon indexes first, and the notes on results, with or without one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cm_tui.errors import NotFoundError
from cm_tui.model import Page

QUICK_BYTES = 1_000_000
"""Size of edited files that are indexed before a response without a daemon: about a second."""
QUICK_S = 2.0
"""How long such a run may go on with vectors; what it has not reached is found by keywords."""


def accepts_notes(result: Any) -> bool:
    """Return whether a note can be left on a result."""
    return isinstance(result, Page) or hasattr(result, "notes")


def with_note(result: Any, note: str) -> Any:
    """A result with a note, where its record has room for one."""
    if isinstance(result, Page):
        return replace(result, note="; ".join(filter(None, (result.note, note))))
    return replace(result, notes=(*result.notes, note)) if accepts_notes(result) else result


def noted(error: NotFoundError, note: str) -> NotFoundError:
    """Return a failure to find something that says of the index what an answer would have said."""
    return type(error)(error.message, hint=f"{error.hint} {note}".strip(), finding=error.finding)
