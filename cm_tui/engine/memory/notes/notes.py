"""The notes that a project sees, and what their files hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.notes.known_scan import places_of, scan_notes
from cm_tui.engine.memory.notes.note_reader import ReadNote, parse_note, read_data, text_of
from cm_tui.engine.memory.notes.places import Found, day_note
from cm_tui.engine.memory.notes.scan import scan_folders, stamp_of
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.ids import ambiguous
from cm_tui.same_names import name_key


class NoteFile(NamedTuple):
    """Content of a note's file.

    Attributes:
        data: its bytes; None: there is no file.
        text: as text.
        shown: the same lines with secrets redacted, for all output.
    """

    data: bytes | None
    text: str
    shown: str


class Notes:
    """The notes of a project and of its user."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.places = places_of(root)

    def named(self, name: str) -> Found:
        """Return the place of an existing note by its id or a unique ending of it.

        Raises NotFoundError if no note has that name; UsageError if the name is ambiguous; RefusedError if it is
        outside the folders of notes.
        """
        wanted = name.strip().removeprefix("note/")
        # The system may not have reported another process's latest writes yet.
        for found in (scan_notes(self.places).found, scan_folders(self.places).found):
            if wanted in found:
                return found[wanted][0]
            endings = (wanted, f"{wanted}.md")
            ends = [id_ for id_ in found if id_.endswith(tuple(f"{mark}{one}" for mark in "/:" for one in endings))]
            if ends:
                return found[_only(wanted, ends)][0]
        if (alike := self._alike(wanted)) is not None:
            return alike
        # Reports a place outside; an empty place is no note.
        place = self.places.place(wanted)
        raise NotFoundError(f"Note not found: {place.id}.", hint="`cm notes list` lists them.")

    def _alike(self, wanted: str) -> Found | None:
        """Return the note with the same name on macOS and Windows.

        Raises UsageError if the name is ambiguous.
        """
        found = scan_notes(self.places).found
        keys = (name_key(wanted), name_key(f"{wanted}.md"))
        ends = tuple(f"{mark}{key}" for mark in "/:" for key in keys)
        ids = [id_ for id_ in found if (key := name_key(id_)) in keys or key.endswith(ends)]
        return found[_only(wanted, ids)][0] if ids else None

    def read(self, place: Found) -> ReadNote:
        """Return a note with the current content of its file.

        Raises NotFoundError if the file does not exist; RefusedError if it is a link, or is below one; StoreError if it
        is too long, or cannot be read.
        """
        data = read_data(place)
        stamp = stamp_of(place)
        if stamp is None:
            raise NotFoundError(f"Note not found: {place.id}.", hint="`cm notes list` lists them.")
        return parse_note(place, stamp, data)

    def days(self, days: Sequence[dt.date]) -> list[Found]:
        """Return the logs of some days that were written in this checkout, in their order."""
        places = [self.places.place(day_note(day.isoformat())) for day in days]
        return [place for place in places if stamp_of(place) is not None]

    def file(self, place: Found) -> NoteFile:
        """Return the content of a note's file for a change.

        Raises UsageError if it is not text that could be written back.
        """
        try:
            data = read_data(place)
        except NotFoundError:
            return NoteFile(None, "", "")
        text, problem = text_of(data)
        if problem:
            raise UsageError(f"The note {place.id} was not changed: {problem}.", hint="Fix it in an editor first.")
        return NoteFile(data, text, redact(text).text)

    def head(self) -> str:
        """Return the commit that is checked out; empty: none."""
        folders = git_folders(self.root)
        return (head_of(folders).sha or "") if folders is not None else ""


def _only(wanted: str, ids: Sequence[str]) -> str:
    """Return the only note with a name. Raises UsageError if there are several."""
    if len(ids) > 1:
        raise ambiguous(wanted, "note", sorted(ids))
    return ids[0]
