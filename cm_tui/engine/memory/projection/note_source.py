"""The source of notes: Markdown files, in passages of whole lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from cm_tui.engine.memory.notes import note_table
from cm_tui.engine.memory.notes.note_text import chunk_note
from cm_tui.engine.memory.notes.notes import ReadNote, read_note
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.scan import places_of, scan_notes
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.files import Stamp
from cm_tui.model import NOTES, Note

_STAMP = "note_stamp"
"""Key in `meta`: stamp of the files when all of them had been read."""
MOST = 1_000
"""Notes that become searchable in one transaction."""


_read: dict[Path, tuple[str, Mapping[str, tuple[Found, Stamp]]]] = {}
"""The notes of each store as last read by this process: with ten thousands, the store is slow to list them."""


class NoteSource:
    """Passages of notes; a file is read when it has changed."""

    name = NOTES

    def __init__(self, context: SourceContext) -> None:
        self._root = context.root
        self._check = context.check

    def has_changed(self, db: Database) -> bool:
        """Return whether a file is another than when it was read last."""
        return db.get_meta(_STAMP) != scan_notes(places_of(self._root)).sign

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Compare the files with their stored state, some at a time."""
        known = scan_notes(places_of(self._root))
        if rebuild:
            note_table.clear(db)
        before = _before(db)
        found = known.found
        gone = [id_ for id_ in before if id_ not in found]
        changed = [(place, stamp) for id_, (place, stamp) in found.items() if before.get(id_) != stamp]
        now = list(islice(changed, MOST))
        old = [*gone, *(place.id for place, _ in now if place.id in before)]
        read = []
        for place, stamp in now:
            self._check()
            read.append((read_note(place, stamp), stamp))
        # Each checkout has its own files, mostly with the same content: their passages stay, and what is derived from them.
        digests = note_table.digests(db, old)
        rewritten = [note for note, _ in read if not note.note.digest or digests.get(note.note.id) != note.note.digest]
        note_table.remove(db, old)
        note_table.add(db, read)
        more = len(changed) > MOST
        if not more:
            db.set_meta(_STAMP, known.sign)
            _read[db.file] = (known.sign, known.found)
        new = (passage for note in rewritten for passage in passages_of(note, self._check))
        old = [*gone, *(note.note.id for note in rewritten)]
        return Changes([] if rebuild else _ids_at(db, old), new, [*known.folders.notes], more=more)


def _before(db: Database) -> Mapping[str, Stamp]:
    """Return the stored state of each file, from memory if possible."""
    sign, found = _read.get(db.file, ("", {}))
    if sign and db.get_meta(_STAMP) == sign:
        return {id_: stamp for id_, (_, stamp) in found.items()}
    return note_table.stamps(db)


def path_of(id_: str) -> str:
    """Return the path of a note's passages."""
    return f"{NOTES}/{id_}"


def passages_of(read: ReadNote, check: Callable[[], None] = lambda: None) -> Iterator[SourcePassage]:
    """Yield the passages of a note: its lines, under its title and headings."""
    # As a whole: a secret may span two pieces; and lines keep their numbers.
    lines = redact("\n".join(read.lines)).text.split("\n")
    title = redact(read.note.title).text
    named = " ".join((title, _words_of(read.note), *read.note.tags))
    seconds = None if read.note.time is None else int(read.note.time)
    for chunk in chunk_note(lines, read.skipped):
        check()
        below = chunk.heading.removeprefix(title).removeprefix(" › ")
        yield SourcePassage(
            path=path_of(read.note.id),
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=f"{title} › {below}" if below else title,
            text=chunk.text,
            names=f"{named} {below}",
            time=seconds,
        )


def _words_of(note: Note) -> str:
    """Return the words of its name, unless they are its title."""
    name = note.id.rpartition("/")[2].rpartition(":")[2].rpartition(".")[0]
    return "" if name == note.title else name


def _ids_at(db: Database, ids: list[str]) -> list[int]:
    paths = [path_of(id_) for id_ in ids]
    rows = db.rows("SELECT id FROM passage WHERE source = ? AND path IN (SELECT unnest(?))", [NOTES, paths])
    return [row[0] for row in rows]
