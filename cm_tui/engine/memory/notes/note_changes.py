"""Changing notes: append, write, move, delete; each change is an event of the journal."""

from __future__ import annotations

import datetime as dt
import re

from cm_tui.engine.memory.notes import note_file
from cm_tui.engine.memory.notes.hunks import merge
from cm_tui.engine.memory.notes.note_file import NoteSaves
from cm_tui.engine.memory.notes.notes import Notes, read_data
from cm_tui.engine.memory.notes.places import Found, day_note
from cm_tui.engine.memory.notes.scan import stamp_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import Decision, NoteChange, NoteConflict
from cm_tui.model.author import Author

APPENDED_CHARACTERS = 20_000
_HEADING = re.compile(r"^( {0,3}## \d\d:\d\d)", re.MULTILINE)
"""Beginning of the line with date and author above a paragraph."""
_AGENTS_KINDS = frozenset({"day", "topic"})
"""Notes that agents append to."""


class NoteChanges:
    """Changes of the notes of a project."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._saves = NoteSaves(notes)

    def append(self, text: str, name: str, writer: Author) -> NoteChange:
        """Write a paragraph at the end of a note.

        Raises UsageError if there is nothing to write, too much, or no such place; RefusedError if it lies outside, or
        is not this writer's to write; StoreError if it cannot be written.
        """
        clean = redact(_storable(text))
        said = clean.text.strip("\n")
        if not said.strip():
            raise UsageError("Nothing to write.", hint='For example: cm notes append "tests need redis"')
        if len(said) > APPENDED_CHARACTERS:
            raise UsageError(
                f"The text has {len(said):,} characters; at most {APPENDED_CHARACTERS:,} can be appended at once.",
                hint="Shorten it, or edit the note: `cm notes edit`.",
            )
        today = dt.datetime.now().astimezone()
        places = self._notes.places
        place = places.new(name) if name.strip() else places.place(day_note(today.date().isoformat()))
        _refuse(place, writer)
        with note_file.writing():
            file = self._notes.file(place)
            note_file.refuse_conflict(place, file.text)
            before = file.shown
            if len(before) + len(said) > note_file.MOST_WRITTEN:
                raise UsageError(
                    f"The note {place.id} would have more than {note_file.MOST_WRITTEN:,} characters.",
                    hint="Start another note, such as a topic: `cm notes append --to NAME TEXT`.",
                )
            head = _heading(today, writer, self._notes.head()) if place.kind == "day" else ""
            if head:
                # Date and author never come from the text itself.
                said = _HEADING.sub(r"\\\1", said)
            added = f"{head}\n\n{said}\n" if head else f"{said}\n"
            start = f"{before.rstrip(chr(10))}\n\n" if before.strip() else _beginning(place, today)
            line = start.count("\n") + 1
            event = self._saves.put(place, file, start + added, writer)
        note = self._notes.read(place).note
        return NoteChange(place.id, f"wrote to {place.id}, line {line}", event, note, line, clean.secrets)

    def write(self, name: str, text: str, base: str | None, decision: Decision) -> NoteChange:
        """Write a note as the user edited it, merged with concurrent changes of the file.

        Raises UsageError if it is too long, or the new note exists already; RefusedError if it is outside the folders
        of notes, or may not be written; StoreError if it cannot be written.
        """
        place = self._notes.places.new(name) if base is None else self._notes.named(name)
        _refuse(place, Author())
        if len(text.encode("utf-8", "replace")) > note_file.MOST_WRITTEN:
            raise UsageError(
                f"The note {place.id} would have more than {note_file.MOST_WRITTEN:,} bytes.",
                hint="Move part of it to another note.",
            )
        clean = redact(_storable(text))
        with note_file.writing():
            file = self._notes.file(place)
            if base is None and file.data is not None:
                raise UsageError(
                    f"The note {place.id} already exists.", hint="Use another name, or edit the existing note."
                )
            wanted = clean.text
            if base is not None and file.shown != base:
                merged = merge(base, clean.text, file.shown, decision)
                if merged.conflicts and not decision:
                    conflict = NoteConflict(base, clean.text, file.shown, merged.text)
                    return NoteChange(place.id, f"{place.id} has changed since, in the same lines", conflict=conflict)
                wanted = merged.text
            if wanted and not wanted.endswith("\n"):
                wanted += "\n"
            if wanted == file.shown:
                return NoteChange(place.id, f"{place.id} already has this text", note=self._notes.read(place).note)
            event = self._saves.put(place, file, wanted, Author())
        done = "wrote" if base is None else "changed"
        secrets = max(0, clean.secrets - redact(file.shown).secrets)
        return NoteChange(place.id, f"{done} {place.id}", event, self._notes.read(place).note, redacted=secrets)

    def move(self, name: str, target: str) -> NoteChange:
        """Rename a note.

        Raises NotFoundError if there is no such note; UsageError if the name is taken; RefusedError if one of them is
        outside the folders of notes, or may not be written; StoreError if it cannot be written.
        """
        place, to = self._notes.named(name), self._notes.places.new(target)
        for one in (place, to):
            _refuse(one, Author())
        with note_file.writing():
            if stamp_of(to) is not None:
                raise UsageError(f"The note {to.id} already exists.", hint="Use another name.")
            data = read_data(place)
            event = self._saves.tell(place.id, {"target": to.id}, Author())
            note_file.write_data(to, data)
            note_file.take_away(place, note_file.saved_file(event), data)
        return NoteChange(to.id, f"moved {place.id} to {to.id}", event, self._notes.read(to).note)

    def delete(self, name: str) -> NoteChange:
        """Delete a note; its file stays with the user's data, so that it can be restored.

        Raises NotFoundError if there is no such note; RefusedError if it is outside the folders of notes, or may not be
        written; StoreError if it cannot be deleted.
        """
        place = self._notes.named(name)
        _refuse(place, Author())
        with note_file.writing():
            event = self._saves.remove(place)
        return NoteChange(place.id, f"deleted {place.id}", event)


def _refuse(place: Found, writer: Author) -> None:
    """Refuse to write what cm, or this author, may not write.

    Raises RefusedError if it may not be written.
    """
    note_file.refuse_locked(place)
    if writer.actor != "person" and (place.kind not in _AGENTS_KINDS or place.scope == "user"):
        raise RefusedError(
            f"{place.id} is edited by users only; agents append to day logs and to topics of the project.",
            hint="Omit the name to append to today's log, or give a topic.",
        )


def _heading(now: dt.datetime, writer: Author, head: str) -> str:
    """Return the line above a paragraph of a day log: time, author, session, commit."""
    parts = [f"{now:%H:%M}"]
    if writer.actor != "person":
        parts.append(_one_word(writer.agent) or writer.actor)
        parts += [f"session {_one_word(writer.session)[:12]}"] if writer.session else []
    parts += [f"at {head[:8]}"] if head else []
    return f"## {' · '.join(parts)}"


def _beginning(place: Found, now: dt.datetime) -> str:
    """Return how a note begins that is not there yet."""
    if place.kind == "day":
        return f"# {now:%Y-%m-%d}\n\n"
    name = place.path.rpartition("/")[2].rpartition(".")[0]
    return f"# {name.replace('-', ' ').replace('_', ' ')}\n\n"


def _one_word(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in "-_.")[:40]


def _storable(text: str) -> str:
    """Return a text for a file: with plain line ends, and valid characters only."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return plain.encode("utf-8", "replace").decode("utf-8")
