"""The source of ingested texts: pipelines' output for semantic search, one event of the journal each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.platform.journal.event import ERASURE, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.errors import CmError, UsageError
from cm_tui.model.definition import INGESTED

KIND = "ingest.vector"
"""Kind of the events: {index, text, metadata}."""
INDEX = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MOST = 2_000
"""Texts that become searchable in one transaction."""
_POSITION, _EVENT = "ingested_position", "ingested_event"
"""Keys in `meta`: position in the journal, and the id of the event there, which identifies the journal."""
_TITLE = 200
_ROW = "SELECT id FROM passage WHERE source = ?"


class IngestedSource:
    """Passages of pipelines' output; each new event of the journal is read once."""

    name = INGESTED

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root
        self._check = context.check

    def has_changed(self, db: Database) -> bool:
        """Return whether the journal has grown, is another one, or cannot be looked at."""
        try:
            journal, at = Journal.of(self._root), _position(db)
            return journal.end() != at or not journal.holds(at, db.get_meta(_EVENT) or "")
        except CmError:
            return True

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Read on from where the journal was left."""
        try:
            journal, at = Journal.of(self._root), _position(db)
            whole = rebuild or not journal.holds(at, db.get_meta(_EVENT) or "")
            return self._read(db, journal, START if whole else at, whole=whole)
        except CmError as error:
            return Changes([], [], [f"What pipelines wrote is as it was: {error.message}"])

    def _read(self, db: Database, journal: Journal, start: Position, *, whole: bool) -> Changes:
        found: dict[str, Event] = {}
        gone: set[str] = set()
        at, last, more = start, "" if whole else db.get_meta(_EVENT) or "", False
        for event in journal.read(start):
            self._check()
            at, last = event.position, event.id
            if event.kind == ERASURE:
                erased = set(map(str, event.data.get("ids", ())))
                gone |= erased
                found = {id_: one for id_, one in found.items() if id_ not in erased}
            elif event.kind == KIND:
                found[event.id] = event
            if len(found) >= MOST:
                more = True
                break
        db.set_meta(_POSITION, str(at))
        db.set_meta(_EVENT, last)
        rows = [row[0] for row in db.rows(_ROW, [INGESTED])] if whole else _ids_of(db, gone)
        return Changes(rows, _passages(found), more=more)


def _position(db: Database) -> Position:
    try:
        return Position.parse(db.get_meta(_POSITION) or str(START))
    except UsageError:
        return START


def _ids_of(db: Database, events: set[str]) -> list[int]:
    if not events:
        return []
    rows = db.rows("SELECT id, path FROM passage WHERE source = ?", [INGESTED])
    return [int(id_) for id_, path in rows if str(path).rpartition("/")[2] in events]


def _passages(found: dict[str, Event]) -> Iterator[SourcePassage]:
    for event in found.values():
        index, text = str(event.data.get("index", "")), event.data.get("text")
        if not INDEX.fullmatch(index) or not isinstance(text, str) or not text.strip():
            continue
        clean = text if event.is_clean else redact(text).text
        metadata = event.data.get("metadata")
        named = metadata.get("title") if isinstance(metadata, dict) else None
        title = str(named or clean.strip().split("\n", 1)[0])[:_TITLE]
        lines = clean.count("\n") + 1
        yield SourcePassage(f"vector/{index}/{event.id}", 1, lines, title, clean, time=int(min(event.time, 2.0**40)))
