"""What is looked for, what is found of it, and how far history tells: shared by the kinds of mentions."""

from __future__ import annotations

from typing import NamedTuple

from cm_tui.engine.mainline import coverage
from cm_tui.engine.store.database import Database
from cm_tui.model.stale import MentionState

EVER = 2**31 - 1
"""Ordinal beyond all."""
SOON = 10
"""Commits after the one that an item was written at within which a name may still come: what is worked on is written
down before it is committed."""
UNCOMMITTED = -1
"""In place of an ordinal: the files on disk differ from HEAD, and no commit did it."""


class Wanted(NamedTuple):
    """A name, and the stretch of the mainline in one commit of which it must have been there."""

    name: str
    since: int
    """First ordinal; -1: from the beginning of what is known."""
    until: int
    """Last ordinal."""
    plain: bool = False
    """It reads like a word: only what is defined once and outermost is meant by it."""


class Finding(NamedTuple):
    """What became of a name that is the project's."""

    state: MentionState
    path: str = ""
    line: int = 0
    became: str = ""
    ordinal: int = 0
    """Of the commit that did it; 0: not known; `UNCOMMITTED`: none did."""


class Known(NamedTuple):
    """How far the store knows the mainline."""

    first: int
    """Oldest ordinal whose files are known; 0: none is."""
    last: int
    """Newest one."""
    head: int
    """Ordinal of the indexed commit; 0: there is none."""

    @classmethod
    def of(cls, db: Database) -> Known:
        """Return what a store knows."""
        covered = coverage.load(db)
        head = int(db.value("SELECT coalesce(max(ord), 0) FROM line_commit"))
        return cls(covered.from_ord if covered.to_ord else 0, covered.to_ord, head)

    def stretch(self, since: int, until: int) -> tuple[int, int]:
        """Return a stretch of the mainline as far as it is known."""
        return min(max(since, self.first), self.last), min(max(until, self.first), self.last)

    def tells(self, since: int) -> bool:
        """Return whether all is known from an ordinal on: what is nowhere since then was not there."""
        return bool(self.first) and self.first <= max(since, 1) and self.last <= self.head

    def gone_at(self, last_end: int, *, is_committed: bool) -> int:
        """Return the ordinal of the commit that took away what is not there now.

        Args:
            last_end: where the last span that had it ends; `EVER`: it does not end.
            is_committed: HEAD has it: the files on disk alone lack it.
        """
        if last_end != EVER:
            return last_end
        if is_committed:
            return UNCOMMITTED
        # Spans end where history was read to: with one commit more it must have been that one.
        return self.head if self.head == self.last + 1 else 0
