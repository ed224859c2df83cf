"""Changing notes: appended to, written, moved, deleted; each change is an event of the journal."""

from __future__ import annotations

import datetime as dt
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.notes import hunks, saved_over
from cm_tui.engine.notes.known_scan import known_notes
from cm_tui.engine.notes.merging import merge
from cm_tui.engine.notes.note_file import MOST_WRITTEN, cannot_write, take_away, write_data, writing
from cm_tui.engine.notes.note_reader import read_data, written_like
from cm_tui.engine.notes.notes import NoteFile, Notes
from cm_tui.engine.notes.places import Found, day_note
from cm_tui.engine.notes.scan import stamp_of
from cm_tui.engine.redaction.redact import redact
from cm_tui.engine.shared_files.last_texts import LastTexts
from cm_tui.errors import CmError, NotFoundError, RefusedError, UsageError
from cm_tui.model import Actor, Decision, NoteChange, NoteConflict

CHANGED = "note.changed"
"""Kind of the event that says which lines of a note were changed, or that it was moved or deleted."""
REVERTED = "note.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""
PUT_BACK = "note.put_back"
"""Kind of the event that says that lines were put back which another program had saved over without having seen them."""
APPENDED_CHARACTERS = 20_000
MOST_SAVED = 50
"""Notes that people save at once; more that have changed were changed by git."""
_RECENT_S = 10.0
_AGENTS_KINDS = frozenset({"day", "topic"})
"""Notes that agents append to."""


class Writer(NamedTuple):
    """Who changes a note.

    Attributes:
        actor: a person, or who else.
        agent: name of the agent.
        session: id of its session.
    """

    actor: Actor = "person"
    agent: str = ""
    session: str = ""


class NoteChanges:
    """Changes of the notes of a project.

    Args:
        notes: the project's.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def append(self, text: str, name: str, writer: Writer) -> NoteChange:
        """Write a paragraph at the end of a note.

        Raises:
            UsageError: there is nothing to write, too much, or no such place.
            RefusedError: it lies outside, or is not this writer's to write.
            StoreError: it cannot be written.
        """
        clean = redact(_storable(text))
        said = clean.text.strip("\n")
        if not said.strip():
            raise UsageError("There is nothing to write down.", hint='For example: cm notes append "tests need redis"')
        if len(said) > APPENDED_CHARACTERS:
            raise UsageError(
                f"That is {len(said):,} characters; at once at most {APPENDED_CHARACTERS:,} are appended.",
                hint="Write less, or edit the note: `cm notes edit`.",
            )
        today = dt.datetime.now().astimezone()
        place = (
            self._notes.places.new(name)
            if name.strip()
            else self._notes.places.place(day_note(today.date().isoformat()))
        )
        _refuse(place, writer)
        with writing():
            file = self.settle(place)
            before = file.shown
            if len(before) + len(said) > MOST_WRITTEN:
                raise UsageError(
                    f"The note {place.id} would have more than {MOST_WRITTEN:,} characters.",
                    hint="Begin another one, such as a topic: `cm notes append --to NAME TEXT`.",
                )
            head = _heading(today, writer, self._notes.head()) if place.kind == "day" else ""
            added = f"{head}\n\n{said}\n" if head else f"{said}\n"
            start = f"{before.rstrip()}\n\n" if before.strip() else _beginning(place, today)
            line = start.count("\n") + 1
            event = self.put(place, file, start + added, writer)
        note = self._notes.read(place).note
        return NoteChange(place.id, f"wrote to {place.id}, line {line}", event, note, line, clean.secrets)

    def write(self, name: str, text: str, base: str | None, decision: Decision) -> NoteChange:
        """Write a note as a person edited it, merged with what was changed in the file meanwhile.

        Raises:
            UsageError: it is too long, or it is to be new and is there.
            RefusedError: it lies outside, or may not be written.
            StoreError: it cannot be written.
        """
        place = (
            self._notes.places.new(name)
            if base is None
            else self._notes.places.place(name.strip().removeprefix("note/"))
        )
        _refuse(place, Writer())
        if len(text.encode("utf-8", "replace")) > MOST_WRITTEN:
            raise UsageError(
                f"The note {place.id} would have more than {MOST_WRITTEN:,} bytes.",
                hint="Put a part of it into another note.",
            )
        clean = redact(_storable(text))
        with writing():
            file = self.settle(place)
            if base is None and file.data is not None:
                raise UsageError(f"There is a note {place.id} already.", hint="Give it another name, or edit that one.")
            wanted = clean.text
            if base is not None and file.shown != base:
                merged = merge(base, clean.text, file.shown, decision)
                if merged.conflicts and not decision:
                    conflict = NoteConflict(base, clean.text, file.shown, merged.text)
                    return NoteChange(
                        place.id, f"{place.id} was changed meanwhile, in the same lines", conflict=conflict
                    )
                wanted = merged.text
            if wanted and not wanted.endswith("\n"):
                wanted += "\n"
            if wanted == file.shown:
                return NoteChange(place.id, f"{place.id} says that already", note=self._notes.read(place).note)
            event = self.put(place, file, wanted, Writer())
        done = "wrote" if base is None else "changed"
        secrets = max(0, clean.secrets - redact(file.shown).secrets)
        return NoteChange(place.id, f"{done} {place.id}", event, self._notes.read(place).note, redacted=secrets)

    def move(self, name: str, target: str) -> NoteChange:
        """Give a note another name.

        Raises:
            NotFoundError: there is no such note.
            UsageError: something has that name already.
            RefusedError: one of them lies outside, or may not be written.
            StoreError: it cannot be written.
        """
        place, to = self._notes.named(name), self._notes.places.new(target)
        for one in (place, to):
            _refuse(one, Writer())
        with writing():
            if stamp_of(to) is not None:
                raise UsageError(f"There is a note {to.id} already.", hint="Give another name.")
            data = read_data(place)
            event = self.tell(place.id, {"target": to.id}, Writer())
            write_data(to, data)
            take_away(place, kept_file(event))
        return NoteChange(to.id, f"moved {place.id} to {to.id}", event, self._notes.read(to).note)

    def delete(self, name: str) -> NoteChange:
        """Delete a note; its file is kept with the user's data, so that it can be brought back.

        Raises:
            NotFoundError: there is no such note.
            RefusedError: it lies outside, or may not be written.
            StoreError: it cannot be deleted.
        """
        place = self._notes.named(name)
        _refuse(place, Writer())
        with writing():
            event = self.remove(place)
        return NoteChange(place.id, f"deleted {place.id}", event)

    def resolve(self, name: str, decision: Decision) -> NoteChange:
        """Decide what becomes of lines of a note that another program saved over; the oldest conflict first.

        Raises:
            NotFoundError: there is no such note, or no conflict in it.
            UsageError: nothing is decided.
            StoreError: it cannot be written.
        """
        if not decision:
            raise UsageError("Nothing is decided.", hint="Say which lines count: mine, theirs or both.")
        place = self._notes.named(name)
        with writing():
            kept = saved_over.kept_of(place.file)
            if not kept:
                raise NotFoundError(f"There is no conflict in {place.id}.", hint="`cm notes conflicts` lists them.")
            file = self._notes.file(place)
            wanted = merge(kept[0].base, kept[0].lost, file.text, decision).text
            event = "" if wanted == file.text else self.put(place, file, redact(wanted).text, Writer())
            saved_over.remove(kept[0])
        return NoteChange(place.id, f"decided in {place.id}: {decision}", event, self._notes.read(place).note)

    # --- parts ---

    def put(self, place: Found, file: NoteFile, after: str, writer: Writer, kind: str = CHANGED, **more: Any) -> str:
        """Tell of a change, then make it; returns the id of the event.

        Args:
            place: of the note.
            file: what it holds.
            after: what it is to hold, made of what was shown.
            writer: who changes it.
            kind: of the event.
            more: what the event says besides.
        """
        shown, lines = file.shown.split("\n"), after.split("\n")
        found = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(after))
        said = {"hunks": hunks.data_of(found), **more} | ({"created": True} if file.data is None else {})
        event = self.tell(place.id, said, writer, kind)
        text = "\n".join(hunks.with_kept_lines(shown, file.text.split("\n"), lines))
        write_data(place, written_like(file.data or b"", text))
        _remember(place, text)
        return event

    def settle(self, place: Found, before: str = "") -> NoteFile:
        """Look whether another program saved a note over lines that it never saw, and put those back; the notes are held.

        Args:
            place: of the note.
            before: what the note said when it was seen last, where nobody kept that.

        Raises:
            UsageError: it is no text that could be written again.
            CmError: it cannot be read or written.
        """
        file = self._notes.file(place)
        if file.data is None:
            return file
        if before and not LastTexts(place.file).all():
            _remember(place, before)
        found = saved_over.settled(place.file, place.id, file.text)
        if found.text is not None:
            again = NoteFile(file.data, found.text, redact(found.text).text)
            told = hunks.hunks_between(hunks.lines_of(file.shown), hunks.lines_of(again.shown))
            self.tell(place.id, {"hunks": hunks.data_of(told)}, Writer(), PUT_BACK)
            write_data(place, written_like(file.data, again.text))
            _remember(place, again.text, put_back=True)
            return again
        if found.conflict is not None:
            try:
                saved_over.keep(found.conflict)
            except OSError as error:
                raise cannot_write(place, error) from error
        _remember(place, file.text)
        return file

    def remove(self, place: Found, kind: str = CHANGED, **more: Any) -> str:
        """Tell that a note is deleted, then do so; its file is kept beside. Returns the id of the event."""
        event = self.tell(place.id, {"deleted": True, **more}, Writer(), kind)
        take_away(place, kept_file(event))
        return event

    def tell(self, id_: str, data: dict[str, Any], writer: Writer, kind: str = CHANGED) -> str:
        """Write the event of a change; returns its id."""
        said = {"note": id_, **data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        return Journal.of(self._notes.root).append(kind, said, head=self._notes.head() or None).id


def settle_recent(root: Path) -> None:
    """Look at the notes that were saved a moment ago, for lines of others that were saved over.

    Args:
        root: the project's root.
    """
    notes = Notes(root)
    changes, since = NoteChanges(notes), (time.time() - _RECENT_S) * 1e9
    found = known_notes(notes.places).found.values()
    # Of one that nobody has changed so far the index knows what it said before, and looks itself.
    recent = [
        place for place, stamp in found if stamp.changed_ns >= since and place.writable and LastTexts(place.file).all()
    ]
    # More at once were not saved by people, but by git.
    for place in recent if len(recent) <= MOST_SAVED else ():
        with suppress(CmError), writing():
            changes.settle(place)


def _remember(place: Found, text: str, *, put_back: bool = False) -> None:
    """Keep what a note says now for whoever saves over it; that it cannot be kept hinders nobody."""
    with suppress(OSError):
        LastTexts(place.file).add(text, put_back=put_back)


def kept_file(event: str) -> Path:
    """Return where the file of a note is kept that was deleted or moved by a change."""
    return paths.data_dir() / "note-changes" / f"{event}.md"


def _refuse(place: Found, writer: Writer) -> None:
    """Refuse to write what is not for cm, or not for this writer.

    Raises:
        RefusedError: it is.
    """
    if not place.writable:
        raise RefusedError(
            f"{place.id} is changed with other programs: cm only reads it.", hint=f"Open {place.file} in an editor."
        )
    if writer.actor != "person" and (place.kind not in _AGENTS_KINDS or place.scope == "user"):
        raise RefusedError(
            f"{place.id} is written by people: agents append to day logs and to topics of the project.",
            hint="Leave the name away for the log of today, or name a topic.",
        )


def _heading(now: dt.datetime, writer: Writer, head: str) -> str:
    """Return the line above a paragraph of a day log: when, by whom, in which session, at which commit."""
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
    """Return a text as a file can hold it: with plain ends of lines, and nothing that is no text."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return plain.encode("utf-8", "replace").decode("utf-8")
