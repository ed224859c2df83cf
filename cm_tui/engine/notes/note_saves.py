"""Writing notes beside other programs: each change is an event first, and what others save over is put back or shown."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from cm_tui.engine.git.head_file import is_gits_doing
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.notes import hunks, saved_over
from cm_tui.engine.notes.front_matter import front_matter
from cm_tui.engine.notes.known_scan import known_notes
from cm_tui.engine.notes.note_file import cannot_write, kept_file, take_away, write_data, writing
from cm_tui.engine.notes.note_reader import written_like
from cm_tui.engine.notes.notes import NoteFile, Notes
from cm_tui.engine.notes.places import Found
from cm_tui.engine.redaction.redact import redact
from cm_tui.engine.shared_files.last_texts import LastTexts
from cm_tui.engine.shared_files.quiet import until_quiet
from cm_tui.errors import CmError
from cm_tui.model.author import Author

CHANGED = "note.changed"
"""Kind of the event that says which lines of a note were changed, or that it was moved or deleted."""
REVERTED = "note.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""
PUT_BACK = "note.put_back"
"""Kind of the event that says that lines were put back which another program had saved over without having seen them."""
MOST_SAVED = 50
"""Notes that people save at once; more that have changed were changed by git."""
_RECENT_S = 10.0


class NoteSaves:
    """Writing the notes of a project; the notes are held meanwhile.

    Args:
        notes: the project's.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def put(self, place: Found, file: NoteFile, after: str, writer: Author, kind: str = CHANGED, **more: Any) -> str:
        """Tell of a change, then make it; returns the id of the event.

        Args:
            place: of the note.
            file: what it holds.
            after: what it is to hold, made of what was shown.
            writer: who changes it.
            kind: of the event.
            more: what the event says besides.

        Raises:
            UsageError: it is not clear what lines hold that look like a secret; nothing is told or written.
            CmError: it cannot be written.
        """
        shown, lines = file.shown.split("\n"), after.split("\n")
        found = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(after))
        said = {"hunks": hunks.data_of(found), **more} | ({"created": True} if file.data is None else {})
        # Before anything is told: it may not be clear what the lines hold.
        text = "\n".join(hunks.with_kept_lines(shown, file.text.split("\n"), lines))
        event = self.tell(place.id, said, writer, kind)
        self._write(place, file, text)
        return event

    def put_whole(self, place: Found, file: NoteFile, text: str, author: Author) -> str:
        """Tell of a change to a text that is no answer's, but was in the file before, secrets and all; then make it.

        Returns:
            The id of the event.
        """
        found = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(redact(text).text))
        event = self.tell(place.id, {"hunks": hunks.data_of(found)}, author)
        self._write(place, file, text)
        return event

    def settle(self, place: Found, before: str = "") -> NoteFile:
        """Look whether another program saved a note over lines that it never saw, and put those back.

        Args:
            place: of the note.
            before: its passages when it was read last, each in its lines, where nobody kept what it said.

        Returns:
            What the note holds then.

        Raises:
            UsageError: it is no text that could be written again.
            CmError: it cannot be read or written.
        """
        last_texts = LastTexts(place.file)
        file = self._notes.file(place)
        if file.data is not None and file.text != last_texts.last() and until_quiet(place.file):
            file = self._notes.file(place)
        if file.data is None:
            with suppress(OSError):
                last_texts.forget()
            return file
        if before and not last_texts.all():
            _remember(place, _completed(before, file.text))
        own = place.scope == "project" and is_gits_doing(self._notes.root, place.path, file.data)
        found = saved_over.Settled() if own else saved_over.settled(place.file, place.id, file.text)
        if found.conflict is not None:
            try:
                saved_over.keep(found.conflict)
            except OSError as error:
                raise cannot_write(place, error) from error
        _remember(place, file.text)
        if found.text is None:
            return file
        again = NoteFile(file.data, found.text, redact(found.text).text)
        told = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(again.shown))
        self.tell(place.id, {"hunks": hunks.data_of(told)}, Author(), PUT_BACK)
        return self._write(place, file, again.text, put_back=True)

    def remove(self, place: Found, kind: str = CHANGED, **more: Any) -> str:
        """Tell that a note is deleted, then do so; its file is kept beside. Returns the id of the event."""
        event = self.tell(place.id, {"deleted": True, **more}, Author(), kind)
        take_away(place, kept_file(event))
        return event

    def tell(self, id_: str, data: dict[str, Any], writer: Author, kind: str = CHANGED) -> str:
        """Write the event of a change; returns its id."""
        said = {"note": id_, **data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        return Journal.of(self._notes.root).append(kind, said, head=self._notes.head() or None).id

    def _write(self, place: Found, file: NoteFile, text: str, *, put_back: bool = False) -> NoteFile:
        """Write a text; what another program saved since the file was read is treated as saved after it."""
        data = written_like(file.data or b"", text)
        saved = write_data(place, data, file.data)
        _remember(place, text, put_back=put_back)
        if saved is not None:
            write_data(place, saved)
            return self.settle(place)
        return NoteFile(data, text, redact(text).text)


def settle_recent(root: Path) -> None:
    """Look at the notes that were saved a moment ago, for lines of others that were saved over.

    Args:
        root: the project's root.
    """
    notes = Notes(root)
    saves, since = NoteSaves(notes), (time.time() - _RECENT_S) * 1e9
    found = known_notes(notes.places).found.values()
    # Of one that nobody has changed so far the index knows what it said before, and looks itself.
    recent = [
        place for place, stamp in found if stamp.changed_ns >= since and place.writable and LastTexts(place.file).all()
    ]
    # More at once were not saved by people, but by git.
    for place in recent if len(recent) <= MOST_SAVED else ():
        with suppress(CmError), writing():
            saves.settle(place)


def _completed(before: str, now: str) -> str:
    """Return a text of passages with what stands in none of them: the front matter, and headings with nothing below."""
    lines, there = before.split("\n"), now.split("\n")
    skipped = front_matter(there).lines
    for row, (line, after) in enumerate(zip(lines, there, strict=False)):
        if not line and (row < skipped or after.startswith("#")):
            lines[row] = after
        elif line != after:
            break
    return "\n".join(lines)


def _remember(place: Found, text: str, *, put_back: bool = False) -> None:
    """Keep what a note says now for whoever saves over it; that it cannot be kept hinders nobody."""
    with suppress(OSError):
        LastTexts(place.file).add(text, put_back=put_back)
