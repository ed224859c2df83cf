"""The source of episodes: agents' prompts and answers, as passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from cm_tui.engine.code.parse.chunks import chunk_lines
from cm_tui.engine.memory.projection import episode_record, turn_text
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import Visibility
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.errors import CmError, UsageError
from cm_tui.model import EPISODES

_POSITION = "episode_position"
"""Key in `meta`: how far the journal was read."""
_EVENT = "episode_event"
"""Key in `meta`: id of the last event read, which identifies the journal."""
MOST = 2_000
"""Turns that become searchable in one transaction: ten thousand take 300 MB for a while, two thousand 100 MB."""
_TITLE_CHARS = 300
_LATEST = 2.0**40
"""Times beyond are damage: a journal can be edited by hand."""
_NOT_IN_A_PATH = re.compile(r"[^\w-]")


class EpisodeSource:
    """Passages of episodes; each new event of the journal is read once."""

    name = EPISODES

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root
        self._check = context.check
        self._most = min(context.most or MOST, MOST)
        self._ahead: _Reading | None = None

    def has_changed(self, db: Database) -> bool:
        """Return whether the journal has grown, is another one, or cannot be looked at."""
        try:
            journal, at = Journal.of(self._root), _position(db)
            return journal.end() != at or not journal.holds(at, _event(db))
        except CmError:
            return True

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Read on from the stored position; without the last event read, it is another journal."""
        try:
            return self._read(Journal.of(self._root), db, rebuild=rebuild)
        except CmError as error:
            if rebuild:
                # The existing passages are removed anyway: they are read again next time.
                _keep(db, START, "")
            return Changes([], [], [f"Episodes are as they were: {error.message}"])

    def _read(self, journal: Journal, db: Database, *, rebuild: bool) -> Changes:
        before = _position(db)
        whole = rebuild or not journal.holds(before, _event(db))
        read = None if whole else self._ahead
        if read is None or read.place != before:
            read = _Reading(journal, START if whole else before, self._most)
        restored = frozenset[str]() if whole else frozenset(read.seen.restored)
        if restored:
            # Episodes hidden before the position: only these are read again.
            read = _Reading(journal, START, self._most)
            read.known_to, read.again = before, restored
        self._ahead = read
        # Indexed passages stay until all are read again; new ones may be added step by step.
        new = read.passages(len(read.ends) if whole or restored else 1, self._check)
        _keep(db, read.place, read.event or _event(db))
        gone = _ids(db) if whole else _ids_at(db, read.seen.hidden | restored)
        return Changes(gone, new, more=bool(read.ends))


class _Reading:
    """The part of a journal after a position: visibility, and episodes in pieces.

    Raises StoreError if it cannot be read.
    """

    def __init__(self, journal: Journal, start: Position, most: int) -> None:
        self._journal = journal
        self.place, self.event = start, ""
        """End of the part returned as passages, and the event there."""
        self.seen = Visibility()
        self.ends: list[tuple[Position, str]] = []
        """Places that so many episodes lie between, and the last event before each."""
        self.known_to, self.again = start, frozenset[str]()
        """Episodes up to this place have their passages, except for these."""
        self._known = set[str]()
        episodes, last = 0, (start, "")
        for event in journal.read(start):
            last = event.position, event.id
            self.seen.follow(event)
            episodes += event.kind == episode_record.KIND
            if event.kind == episode_record.KIND and not episodes % most:
                self.ends.append(last)
        if last[0] != (self.ends[-1][0] if self.ends else start):
            self.ends.append(last)

    def passages(self, pieces: int, check: Callable[[], None]) -> Iterator[SourcePassage]:
        """Read the next pieces, and return the passages of visible episodes in them."""
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
            if event.kind == episode_record.KIND:
                check()
                is_due = event.position > self.known_to or event.id in self.again
                if is_due and event.id not in self.seen.hidden and event.id not in self._known:
                    self._known.add(event.id)
                    yield from passages_of(event)


def read_again(db: Database) -> None:
    """Have every episode read again at the next comparison, by the rules of today."""
    _keep(db, Position(1, 1), "-")


def _ids(db: Database) -> list[int]:
    return [row[0] for row in db.rows("SELECT id FROM passage WHERE source = ?", [EpisodeSource.name])]


def _ids_at(db: Database, episodes: Iterable[str]) -> list[int]:
    sql = "SELECT id FROM passage WHERE source = ? AND path IN (SELECT unnest(?))"
    paths = [path_of(one) for one in episodes]
    return [row[0] for row in db.rows(sql, [EpisodeSource.name, paths])] if paths else []


def path_of(episode: str) -> str:
    """Return the name of an episode among paths."""
    return f"episode/{_NOT_IN_A_PATH.sub('_', episode)}"


def passages_of(event: Event) -> Iterator[SourcePassage]:
    """Yield the passages of an episode: the turn's text in pieces, each under the session's title."""
    record = EpisodeRecord.from_event(event)
    # Once more where it was recorded by earlier rules than today's: it becomes searchable here.
    clean = str if event.is_clean else _without_secrets
    text = clean(turn_text.of(record))
    lines = [_storable(line) for line in text.split("\n")]
    first = next((line.strip() for line in lines if line.strip()), "")[:_TITLE_CHARS]
    name = _storable(clean(turn_text.session_name(record)))[:_TITLE_CHARS]
    at = event.time if record.at is None else record.at
    for chunk in chunk_lines(lines):
        # A later piece does not contain the prompt.
        title = name if chunk.start_line == 1 else f"{name} {first}".strip()
        yield SourcePassage(
            path=path_of(event.id),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=title,
            text="\n".join(lines[chunk.start_line - 1 : chunk.end_line]),
            names=title,
            time=int(at) if 0 <= at < _LATEST else None,
            thread=f"{EPISODES}/{_storable(record.session)}" if record.session else None,
            place=record.turn,
        )


def _without_secrets(text: str) -> str:
    return redact(text).text


def _storable(line: str) -> str:
    """Return a line that the store can hold: journals may have lone surrogates and zero bytes."""
    return line.encode("utf-8", "replace").decode("utf-8").replace("\0", " ").removesuffix("\r")


def _position(db: Database) -> Position:
    try:
        return Position.parse(db.get_meta(_POSITION) or str(START))
    except UsageError:
        return START


def _event(db: Database) -> str:
    return db.get_meta(_EVENT) or ""


def _keep(db: Database, position: Position, event: str) -> None:
    db.set_meta(_POSITION, str(position))
    db.set_meta(_EVENT, event)
