"""The source of entries: what people and agents wrote down, as passages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cm_tui.engine.code.parse.chunks import chunk_lines
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.errors import CmError
from cm_tui.model import ENTRIES, Entry

_STAMP = "entry_stamp"
"""Key in `meta`: stamps of the files when they were last read."""
_LATEST = 2**40
_NOT_IN_A_PATH = re.compile(r"[^\w-]")
_HELD = "SELECT id, path, start_line, end_line, title, text, time FROM passage WHERE source = ?"


class EntrySource:
    """Passages of entries; the files are small, and read completely when one of them has changed."""

    name = ENTRIES

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root
        self._journal = context.journal

    def has_changed(self, db: Database) -> bool:
        """Return whether a file of entries, or the ledger, has changed since it was last read."""
        try:
            return db.get_meta(_STAMP) != Entries(self._root, self._journal).stamp()
        except CmError:
            return True

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Compare all recallable entries with the stored passages."""
        try:
            entries = Entries(self._root)
            # Stamped before reading, so that a concurrent change is read next time.
            stamp = entries.stamp()
            found = entries.all()
        except CmError as error:
            db.set_meta(_STAMP, "")
            return Changes([], [], [f"Entries are not up to date: {error.message}"])
        wanted = {_key(one): one for entry in found.recalled for one in passages_of(entry)}
        held = {} if rebuild else {tuple(row[1:]): row[0] for row in db.rows(_HELD, [self.name])}
        db.set_meta(_STAMP, stamp)
        gone = [id_ for key, id_ in held.items() if key not in wanted]
        return Changes(gone, [one for key, one in wanted.items() if key not in held])


def path_of(entry: str) -> str:
    """Return the name of an entry among paths."""
    return f"{ENTRIES}/{_NOT_IN_A_PATH.sub('_', entry)}"


def passages_of(entry: Entry) -> Iterator[SourcePassage]:
    """Yield the passages of an entry: its content, under category, title, and keywords missing in the content."""
    # Once more by the rules of today: the file of a project is not ours alone.
    said = f"{entry.title}\n{entry.content}".lower()
    more = [word for word in entry.keywords if word.lower() not in said]
    found_by = f" ({', '.join(more)})" if more else ""
    named = f"{entry.category}: {' '.join(entry.title.split())}{found_by}"
    title, lines = redact(named).text, redact(entry.content).text.split("\n")
    seconds = entry.timestamp // 1000
    for chunk in chunk_lines(lines):
        yield SourcePassage(
            path=path_of(entry.id),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=title,
            text="\n".join(lines[chunk.start_line - 1 : chunk.end_line]),
            names=title,
            time=seconds if 0 < seconds < _LATEST else None,
        )


def _key(one: SourcePassage) -> tuple[object, ...]:
    return (one.path, one.start_line, one.end_line, one.title, one.text, one.time)
