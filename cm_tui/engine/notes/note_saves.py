"""Writing notes: each change is an event first."""

from __future__ import annotations

from typing import Any

from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.notes import hunks
from cm_tui.engine.notes.note_file import kept_file, refuse_read_only, take_away, write_data
from cm_tui.engine.notes.note_reader import written_like
from cm_tui.engine.notes.notes import NoteFile, Notes
from cm_tui.engine.notes.places import Found
from cm_tui.model.author import Author

CHANGED = "note.changed"
"""Kind of the event that says which lines of a note were changed, or that it was moved or deleted."""
REVERTED = "note.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""


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
            RefusedError: the file is read-only; nothing is told or written.
            CmError: it cannot be written.
        """
        refuse_read_only(place)
        shown, lines = file.shown.split("\n"), after.split("\n")
        found = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(after))
        said = {"hunks": hunks.data_of(found), **more} | ({"created": True} if file.data is None else {})
        if file.shown and not file.shown.endswith("\n"):
            said["open_end"] = len(hunks.lines_of(file.shown))
        # Before anything is told: it may not be clear what the lines hold.
        text = "\n".join(hunks.with_kept_lines(shown, file.text.split("\n"), lines))
        event = self.tell(place.id, said, writer, kind)
        write_data(place, written_like(file.data or b"", text), file.data)
        return event

    def remove(self, place: Found, kind: str = CHANGED, **more: Any) -> str:
        """Tell that a note is deleted, then do so; its file is kept beside. Returns the id of the event."""
        refuse_read_only(place)
        event = self.tell(place.id, {"deleted": True, **more}, Author(), kind)
        take_away(place, kept_file(event))
        return event

    def tell(self, id_: str, data: dict[str, Any], writer: Author, kind: str = CHANGED) -> str:
        """Write the event of a change; returns its id."""
        said = {"note": id_, **data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        return Journal.of(self._notes.root).append(kind, said, head=self._notes.head() or None).id
