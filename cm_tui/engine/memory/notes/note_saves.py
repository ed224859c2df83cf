"""Writing notes: each change is an event first."""

from __future__ import annotations

from typing import Any

from cm_tui.engine.memory.notes import hunks
from cm_tui.engine.memory.notes.note_file import kept_file, refuse_read_only, take_away, write_data
from cm_tui.engine.memory.notes.note_reader import written_like
from cm_tui.engine.memory.notes.notes import NoteFile, Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model.author import Author

CHANGED = "note.changed"
"""Kind of the event with the changed lines of a note, or with its move or deletion."""
REVERTED = "note.reverted"
"""Kind of the event that records an undone change; it cannot itself be undone."""


class NoteSaves:
    """Writes the notes of a project; the caller holds the notes."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def put(self, place: Found, file: NoteFile, after: str, writer: Author, kind: str = CHANGED, **more: Any) -> str:
        """Record a change, then make it; returns the id of the event.

        Args:
            place: of the note.
            file: its current content.
            after: its new content, based on what was shown.
            writer: who changes it.
            kind: of the event.
            more: further data of the event.

        Raises:
            UsageError: it is unclear which lines hold a possible secret; nothing is recorded or written.
            RefusedError: the file is read-only; nothing is recorded or written.
            CmError: it cannot be written.
        """
        refuse_read_only(place)
        shown, lines = file.shown.split("\n"), after.split("\n")
        found = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(after))
        said = {"hunks": hunks.data_of(found), **more} | ({"created": True} if file.data is None else {})
        if file.shown and not file.shown.endswith("\n"):
            said["open_end"] = len(hunks.lines_of(file.shown))
        # Before anything is recorded: it may be unclear what the lines hold.
        text = "\n".join(hunks.with_kept_lines(shown, file.text.split("\n"), lines))
        event = self.tell(place.id, said, writer, kind)
        write_data(place, written_like(file.data or b"", text), file.data)
        return event

    def remove(self, place: Found, kind: str = CHANGED, **more: Any) -> str:
        """Record the deletion of a note, then delete it and save its file. Returns the id of the event."""
        refuse_read_only(place)
        event = self.tell(place.id, {"deleted": True, **more}, Author(), kind)
        take_away(place, kept_file(event))
        return event

    def tell(self, id_: str, data: dict[str, Any], writer: Author, kind: str = CHANGED) -> str:
        """Write the event of a change; returns its id."""
        said = {"note": id_, **data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        return Journal.of(self._notes.root).append(kind, said, head=self._notes.head() or None).id
