"""Is the index current, and what is done about it before an answer: decided here, for the daemon and without one."""

from __future__ import annotations

from typing import Protocol

from cm_tui.errors import NotIndexedError
from cm_tui.model import Need


class CheckedIndex(Protocol):
    """An index as this policy sees it: the daemon's, whose runs are jobs, or that of an engine in this process."""

    def run_under_way(self) -> str | None:
        """Return what is to be said of an answer while a run of this checkout is on; None when none is."""

    def stale_reason(self) -> str:
        """Return why the index does not reflect HEAD; nothing when it does.

        Raises:
            NotIndexedError: there is no index yet.
        """

    def bring_to_head(self, reason: str) -> str:
        """Bring the index up to HEAD, as it does not reflect that for a reason; return a note for the answer."""

    def keep_fresh(self) -> None:
        """Follow the files from now on, where something can."""

    def check_files(self) -> str | None:
        """Have files that differ indexed, if that is soon done; return what is still behind, or None if nobody looks."""


def before_answer(index: CheckedIndex, need: Need) -> str:
    """Bring an index to what a call needs, and return a note for its answer.

    While a run is under way nobody waits for it: the answer comes from what is there. What is not indexed has no
    answers, which the caller may say.

    Args:
        index: what is asked.
        need: what the call has declared.
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
    """Bring an index up to HEAD, however long it takes, and return a note; nothing when it was there.

    Raises:
        NotIndexedError: there is no index yet.
    """
    reason = index.stale_reason()
    return index.bring_to_head(reason) if reason else ""
