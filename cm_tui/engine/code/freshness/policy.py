"""Freshness policy: whether the index is current, and how to update it before a response, with or without a daemon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

from cm_tui.errors import NotFoundError, NotIndexedError
from cm_tui.model import Need, Page

QUICK_BYTES = 1_000_000
"""Size of edited files that are indexed before a response without a daemon: about a second."""
QUICK_S = 2.0
"""How long such a run may go on with vectors; what it has not reached is found by keywords."""


# --- freshness policy ---


class CheckedIndex(Protocol):
    """An index: the daemon's, whose runs are jobs, or that of an engine in this process."""

    def run_under_way(self) -> str | None:
        """Return a note for responses while a run of this checkout is on; None: no run."""

    def stale_reason(self) -> str:
        """Return why the index does not reflect HEAD; nothing when it does.

        Raises NotIndexedError if there is no index yet.
        """

    def bring_to_head(self, reason: str) -> str:
        """Update the index to HEAD, for a given reason; return a note for the response."""

    def keep_fresh(self) -> None:
        """Follow the files from now on, if possible."""

    def check_files(self) -> str | None:
        """Index changed files if that is quick; return what is still behind, or None where that is not checked."""


def prepare(index: CheckedIndex, need: Need) -> str:
    """Update an index as far as a call needs, and return a note for its response.

    Calls do not wait for a running index run: they get the current state. Without any index there are no results, which
    the caller may report. `index`: the index to read; `need`: declared by the call.
    """
    if need not in ("files", "head"):
        return ""
    under_way = index.run_under_way()
    if under_way is not None:
        return under_way
    if need == "files" and (behind := index.check_files()) is not None:
        return behind
    try:
        note = at_head(index)
    except NotIndexedError:
        return ""
    index.keep_fresh()
    behind = index.check_files() if need == "files" else None
    return f"{note} {behind or ''}".strip()


def at_head(index: CheckedIndex) -> str:
    """Update an index to HEAD, however long it takes, and return a note; empty: it was current.

    Raises NotIndexedError if there is no index yet.
    """
    reason = index.stale_reason()
    return index.bring_to_head(reason) if reason else ""


# --- notes on results ---


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
