"""Common parts of the kinds of mentions: request, result, and the known part of history."""

from __future__ import annotations

from typing import NamedTuple

from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.model.stale import MentionState

EVER = 2**31 - 1
"""Ordinal beyond all."""
SOON = 10
"""Number of commits after an item's commit in which a name may still be added: work in progress is described before
it is committed."""
UNCOMMITTED = -1
"""In place of an ordinal: the files on disk differ from HEAD, and no commit did it."""


class Wanted(NamedTuple):
    """A name, and the stretch of the mainline with a commit that must have it."""

    name: str
    since: int
    """First ordinal; -1: from the beginning of known history."""
    until: int
    """Last ordinal."""
    plain: bool = False
    """It looks like a word: only a unique, outermost definition matches."""


class Finding(NamedTuple):
    """What became of a name of the project."""

    state: MentionState
    path: str = ""
    line: int = 0
    became: str = ""
    ordinal: int = 0
    """Of the commit that did it; 0: not known; `UNCOMMITTED`: none did."""


class Known(NamedTuple):
    """The known part of the mainline."""

    first: int
    """Oldest ordinal whose files are known; 0: none is."""
    last: int
    """Newest one."""
    head: int
    """Ordinal of the indexed commit; 0: none."""

    @classmethod
    def of(cls, db: Database) -> Known:
        """Return the part known to a store."""
        covered = coverage.load(db)
        head = int(db.value("SELECT coalesce(max(ord), 0) FROM line_commit"))
        return cls(covered.from_ord if covered.to_ord else 0, covered.to_ord, head)

    def stretch(self, since: int, until: int) -> tuple[int, int]:
        """Return the known part of a stretch of the mainline."""
        return min(max(since, self.first), self.last), min(max(until, self.first), self.last)

    def tells(self, since: int) -> bool:
        """Return whether history is complete from an ordinal on: a name missing since then did not exist."""
        return bool(self.first) and self.first <= max(since, 1) and self.last <= self.head

    def gone_at(self, last_end: int, *, is_committed: bool) -> int:
        """Return the ordinal of the commit that removed something.

        `last_end`: end of the last span with it; `EVER`: none. `is_committed`: HEAD has it: only the files on disk lack
        it.
        """
        if last_end != EVER:
            return last_end
        if is_committed:
            return UNCOMMITTED
        # Spans end where history was read to: with one commit more it must have been that one.
        return self.head if self.head == self.last + 1 else 0
