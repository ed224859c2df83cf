"""The notes that a project sees, and what their files hold."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.git.git_dir import git_folders, head_of
from cm_tui.engine.notes.known_scan import known_notes, places_of
from cm_tui.engine.notes.note_reader import ReadNote, made_of, read_data, text_of
from cm_tui.engine.notes.places import Found, day_note
from cm_tui.engine.notes.scan import scan_folders, stamp_of
from cm_tui.engine.redaction.redact import redact
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.same_names import name_key


class NoteFile(NamedTuple):
    """What a note's file holds.

    Attributes:
        data: its bytes; None: there is no file.
        text: as text.
        shown: the same lines without what looks like a secret: all that anybody is told.
    """

    data: bytes | None
    text: str
    shown: str


class Notes:
    """The notes of a project and of its user.

    Args:
        root: the project's root.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.places = places_of(root)

    def named(self, name: str) -> Found:
        """Return the place of a note that is there, by its id or the end of one that no other has.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            RefusedError: it lies outside the folders of notes.
        """
        wanted = name.strip().removeprefix("note/")
        # Of what another process wrote just now the system may not have told yet.
        for found in (known_notes(self.places).found, scan_folders(self.places).found):
            if wanted in found:
                return found[wanted][0]
            endings = (wanted, f"{wanted}.md")
            ends = [id_ for id_ in found if id_.endswith(tuple(f"{mark}{one}" for mark in "/:" for one in endings))]
            if len(ends) == 1:
                return found[ends[0]][0]
            if len(ends) > 1:
                raise UsageError(
                    f"{wanted!r} is more than one note: {', '.join(sorted(ends)[:5])}.", hint="Give one of these."
                )
        if (alike := self._alike(wanted)) is not None:
            return alike
        # Says so where it lies elsewhere; a place that is empty is no note.
        place = self.places.place(wanted)
        raise NotFoundError(f"There is no note {place.id}.", hint="`cm notes list` lists them.")

    def _alike(self, wanted: str) -> Found | None:
        """Return the note whose name is the same on macOS and Windows.

        Raises:
            UsageError: there are several.
        """
        found = known_notes(self.places).found
        keys = (name_key(wanted), name_key(f"{wanted}.md"))
        ends = tuple(f"{mark}{key}" for mark in "/:" for key in keys)
        ids = [id_ for id_ in found if (key := name_key(id_)) in keys or key.endswith(ends)]
        if len(ids) > 1:
            raise UsageError(
                f"{wanted!r} is more than one note: {', '.join(sorted(ids)[:5])}.", hint="Give one of these."
            )
        return found[ids[0]][0] if ids else None

    def read(self, place: Found) -> ReadNote:
        """Return a note as its file has it now.

        Raises:
            NotFoundError: there is none.
            RefusedError: it is a link, or lies below one.
            StoreError: it is too long, or cannot be read.
        """
        data = read_data(place)
        stamp = stamp_of(place)
        if stamp is None:
            raise NotFoundError(f"There is no note {place.id}.", hint="`cm notes list` lists them.")
        return made_of(place, stamp, data)

    def days(self, days: Sequence[dt.date]) -> list[Found]:
        """Return the logs of some days that were written in this checkout, in their order."""
        places = [self.places.place(day_note(day.isoformat())) for day in days]
        return [place for place in places if stamp_of(place) is not None]

    def file(self, place: Found) -> NoteFile:
        """Return what a note's file holds.

        Raises:
            UsageError: it is no text that could be written again.
        """
        try:
            data = read_data(place)
        except NotFoundError:
            return NoteFile(None, "", "")
        text, problem = text_of(data)
        if problem:
            raise UsageError(f"The note {place.id} stays as it is: {problem}.", hint="Mend it in an editor first.")
        return NoteFile(data, text, redact(text).text)

    def head(self) -> str:
        """Return the commit that the checkout stands at; empty: there is none."""
        folders = git_folders(self.root)
        return (head_of(folders).sha or "") if folders is not None else ""
