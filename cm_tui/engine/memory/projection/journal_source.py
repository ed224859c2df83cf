"""Sources of passages whose items are events of the journal."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from cm_tui.engine.memory.projection.visibility import Visibility
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.errors import CmError, UsageError

MOST = 2_000
"""Items that become searchable in one transaction: ten thousand turns take 300 MB for a while, two thousand 100 MB."""
_NOT_IN_A_PATH = re.compile(r"[^\w-]")
_IDS = "SELECT id FROM passage WHERE source = ?"


class JournalSource:
    """Passages of one kind of event; each new event of the journal is read once.

    In `meta`, `KEY_position` is how far the journal was read, and `KEY_event` the id of the event there, which
    identifies the journal.
    """

    name: ClassVar[str]
    kind: ClassVar[str]
    """Kind of the events."""
    key: ClassVar[str]
    words: ClassVar[str]
    """Its items, for messages."""

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root
        self._journal = context.journal
        self._check = context.check
        self._most = min(context.most or MOST, MOST)
        self._ahead: _Reading | None = None

    def passages_of(self, event: Event) -> Iterable[SourcePassage]:
        """Return the passages of an event; the last part of their path is `name_in_path` of its id."""
        raise NotImplementedError

    def has_changed(self, db: Database) -> bool:
        """Return whether the journal has grown, is another one, or cannot be looked at."""
        try:
            journal = Journal.of(self._root) if self._journal is None else Journal(self._journal)
            at, event = self._position(db)
            return journal.end() != at or not journal.holds(at, event)
        except CmError:
            return True

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Read on from the stored position; without the last event read, it is another journal."""
        try:
            return self._read(Journal.of(self._root), db, rebuild=rebuild)
        except CmError as error:
            if rebuild:
                # The existing passages are removed anyway: they are read again next time.
                self.keep(db, START, "")
            return Changes([], [], [f"{self.words} not up to date: {error.message}"])

    @classmethod
    def keep(cls, db: Database, position: Position, event: str) -> None:
        """Store how far the journal was read."""
        db.set_meta(f"{cls.key}_position", str(position))
        db.set_meta(f"{cls.key}_event", event)

    def _position(self, db: Database) -> tuple[Position, str]:
        try:
            at = Position.parse(db.get_meta(f"{self.key}_position") or str(START))
        except UsageError:
            at = START
        return at, db.get_meta(f"{self.key}_event") or ""

    def _read(self, journal: Journal, db: Database, *, rebuild: bool) -> Changes:
        before, event = self._position(db)
        whole = rebuild or not journal.holds(before, event)
        read = None if whole else self._ahead
        if read is None or read.place != before:
            read = _Reading(self, journal, START if whole else before, self._most)
        restored = frozenset[str]() if whole else frozenset(read.seen.restored)
        if restored:
            # Items hidden before the position: only these are read again.
            read = _Reading(self, journal, START, self._most)
            read.known_to, read.again = before, restored
        self._ahead = read
        # Indexed passages stay until all are read again; new ones may be added step by step.
        new = read.passages(len(read.ends) if whole or restored else 1, self._check)
        self.keep(db, read.place, read.event or event)
        gone = self._ids(db, None if whole else read.seen.hidden | restored)
        return Changes(gone, new, more=bool(read.ends))

    def _ids(self, db: Database, events: Iterable[str] | None) -> list[int]:
        """Return the ids of the passages of some events; None: of all."""
        if events is None:
            return [row[0] for row in db.rows(_IDS, [self.name])]
        names = [name_in_path(one) for one in events]
        sql = f"{_IDS} AND split_part(path, '/', -1) IN (SELECT unnest(?))"
        return [row[0] for row in db.rows(sql, [self.name, names])] if names else []


def name_in_path(event: str) -> str:
    """Return the name of an event among paths."""
    return _NOT_IN_A_PATH.sub("_", event)


class _Reading:
    """The part of a journal after a position: visibility, and items in pieces.

    Raises StoreError if it cannot be read.
    """

    def __init__(self, source: JournalSource, journal: Journal, start: Position, most: int) -> None:
        self._source = source
        self._journal = journal
        self.place, self.event = start, ""
        """End of the part returned as passages, and the event there."""
        self.seen = Visibility()
        self.ends: list[tuple[Position, str]] = []
        """Places that so many items lie between, and the last event before each."""
        self.known_to, self.again = start, frozenset[str]()
        """Items up to this place have their passages, except for these."""
        self._known = set[str]()
        items, last = 0, (start, "")
        for event in journal.read(start):
            last = event.position, event.id
            self.seen.follow(event)
            items += event.kind == self._source.kind
            if event.kind == self._source.kind and not items % most:
                self.ends.append(last)
        if last[0] != (self.ends[-1][0] if self.ends else start):
            self.ends.append(last)

    def passages(self, pieces: int, check: Callable[[], None]) -> Iterator[SourcePassage]:
        """Read the next pieces, and return the passages of visible items in them."""
        start = self.place
        taken, self.ends = self.ends[:pieces], self.ends[pieces:]
        if taken:
            self.place, self.event = taken[-1]
        return self._between(start, self.place, check)

    def _between(self, start: Position, end: Position, check: Callable[[], None]) -> Iterator[SourcePassage]:
        # Read again one by one: all at once they do not fit in memory.
        for event in self._journal.read(start) if start < end else ():
            if event.position > end:
                # Later additions do not count as read.
                return
            if event.kind == self._source.kind:
                check()
                is_due = event.position > self.known_to or event.id in self.again
                if is_due and event.id not in self.seen.hidden and event.id not in self._known:
                    self._known.add(event.id)
                    yield from self._source.passages_of(event)
