"""Writing the files of notes, never through a link; each change is an event first, by which it can be undone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.memory.notes import hunks
from cm_tui.engine.memory.notes.hunks import merge
from cm_tui.engine.memory.notes.notes import MOST_BYTES, NoteFile, Notes, read_data, refuse_links, text_of, written_like
from cm_tui.engine.memory.notes.places import USER, Found
from cm_tui.engine.memory.notes.scan import wrote
from cm_tui.engine.platform.git.conflict_marks import conflict_line
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.kinds import has_marks
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.files import read_regular, wait_until_quiet, write_atomically, write_if_unchanged
from cm_tui.model import Conflict, Undone
from cm_tui.model.author import Author
from cm_tui.same_names import twin_of
from cm_tui.state_file import holding, make_room, reported

# --- writing the file of a note: whole, under a lock, never through a link ---

MOST_WRITTEN = 1_000_000
"""Bytes of a note that cm writes; longer ones are for other programs."""
_WRITABLE = 0o222
_MOST_ATTEMPTS = 5
"""Of writing a note that another program saves again and again."""
_IGNORED = ("memory/", "kv/", "snapshots/")
"""What of a project's folder `.cm` is of this checkout alone."""


def writing() -> AbstractContextManager[None]:
    """Hold all notes: no other process or thread of cm changes one meanwhile.

    Raises StoreError if another one holds the lock, or the folder cannot be used.
    """
    return holding(paths.data_dir() / "note-changes" / "lock")


def write_data(place: Found, data: bytes, before: bytes | None = None) -> None:
    """Write a whole note; another program's changes since it was read are merged by line.

    Where both changed the same lines, both versions stay. `data`: the new content. `before`: the content that was read;
    None: no file. Raises RefusedError if it is a link, is below one, or was removed or damaged since it was read;
    StoreError if it cannot be written.
    """
    for _ in range(_MOST_ATTEMPTS):
        if _write_unless_changed(place, data, before):
            wrote(place.file)
            return
        wait_until_quiet(place.file)
        try:
            now = read_data(place)
        except NotFoundError as error:
            raise RefusedError(f"{place.id} has been removed; nothing was written.", hint="Try again.") from error
        theirs, problem = text_of(now)
        if problem:
            raise RefusedError(f"The note {place.id} was not changed: {problem}.", hint="Fix it in an editor first.")
        base, mine = (text_of(one)[0] for one in (before or b"", data))
        before, data = now, written_like(now, merge(base, mine, theirs, "both").text)
    raise StoreError(f"Another program keeps saving {place.id}; nothing was written.", hint="Try again.")


def _write_unless_changed(place: Found, data: bytes, before: bytes | None) -> bool:
    refuse_links(place)
    refuse_read_only(place)
    try:
        permissions = make_room(place.file, private=place.scope == "user")
        refuse_links(place)
        if place.path.startswith(f"{paths.PROJECT_FOLDER}/"):
            _ignore(place.base / paths.PROJECT_FOLDER)
        return write_if_unchanged(place.file, data, before, permissions)
    except OSError as error:
        raise cannot_write(place, error) from error


def refuse_locked(place: Found) -> None:
    """Refuse to change a file that is not for cm, or that may not be written.

    Raises RefusedError if it may not be written.
    """
    if not place.writable:
        raise RefusedError(
            f"{place.id} is edited with other programs; cm only reads it.", hint=f"Open {place.file} in an editor."
        )
    refuse_read_only(place)


def refuse_read_only(place: Found) -> None:
    """Refuse to write a file that is read-only, or whose name is another file's on macOS and Windows.

    Raises RefusedError if it may not be written.
    """
    try:
        mode = place.file.stat(follow_symlinks=False).st_mode
    except OSError:
        if (twin := twin_of(place.base, place.path)) is not None:
            raise RefusedError(
                f"{place.id} is the same name as {twin} on macOS and Windows.",
                hint="Use the existing name.",
            ) from None
    else:
        if not mode & _WRITABLE:
            raise RefusedError(f"{place.id} is read-only.", hint=f"Make {place.file} writable for you.")
    folder = next((one for one in place.file.parents if one.exists()), place.base)
    if not os.access(folder, os.W_OK):
        raise RefusedError(f"{place.id} is in a read-only folder.", hint=f"Make {folder} writable for you.")


def refuse_conflict(place: Found, text: str) -> None:
    """Refuse to add to a note in which git left a conflict. Raises RefusedError if it has one."""
    if (line := conflict_line(text)) is not None:
        raise RefusedError(
            f"{place.id} has a git conflict at line {line}; nothing was written.",
            hint=f"Resolve it first: `cm notes edit {place.id}`, or any editor.",
        )


def take_away(place: Found, kept: Path, before: bytes | None = None) -> None:
    """Move the file of a note to where it is kept, with what another program saves meanwhile.

    `before`: the content that is in another file by now: a note with any other content stays; None: any content. Raises
    RefusedError if it is a link, is below one, or was changed since; StoreError if it cannot be moved.
    """
    refuse_links(place)
    refuse_read_only(place)
    try:
        paths.private_dir(kept.parent)
        data = None
        while (now := read_data(place)) != data:
            if before is not None and now != before:
                raise RefusedError(f"{place.id} has changed since, so it was kept.", hint="Review it and try again.")
            data = now
            write_atomically(kept, data, durable=True)
        place.file.unlink()
    except OSError as error:
        raise cannot_write(place, error) from error
    wrote(place.file)


def saved_file(event: str) -> Path:
    """Return the saved file of a note deleted or moved by a change."""
    return paths.data_dir() / "note-changes" / f"{event}.md"


def forget_saved(events: Iterable[str]) -> None:
    """Remove the saved files of notes deleted or moved by some changes.

    Raises StoreError if one cannot be removed.
    """
    gone = set(events)
    # For a change of several files, each has a number after the event's id.
    several = [one for one in saved_file("").parent.glob("*-*.md") if one.name.partition("-")[0] in gone]
    for kept in (*map(saved_file, gone), *several):
        with reported(kept, "remove"):
            kept.unlink(missing_ok=True)


def cannot_write(place: Found, error: OSError) -> StoreError:
    """Return the message for a note that cannot be written."""
    return StoreError(
        f"Cannot write the note {place.id}: {error.strerror or error}.",
        hint=f"Check the permissions of {place.file.parent} and free space.",
    )


def _ignore(folder: Path) -> None:
    """Have git ignore what belongs to this checkout alone; an existing ignore file is unchanged."""
    file = folder / ".gitignore"
    if os.path.lexists(file):
        return
    write_atomically(file, "".join(f"/{name}\n" for name in _IGNORED), permissions=None)


# --- writing notes: each change is an event first ---

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

    def remove(self, place: Found, kind: str = CHANGED, before: bytes | None = None, **more: Any) -> str:
        """Record the deletion of a note, then delete it and save its file; returns the id of the event.

        `before`: as for `take_away`.
        """
        refuse_read_only(place)
        event = self.tell(place.id, {"deleted": True, **more}, Author(), kind)
        take_away(place, saved_file(event), before)
        return event

    def tell(self, id_: str, data: dict[str, Any], writer: Author, kind: str = CHANGED) -> str:
        """Write the event of a change; returns its id."""
        said = {"note": id_, **data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        if not id_.startswith(USER):
            said["root"] = str(self._notes.root)
        return Journal.of(self._notes.root).append(kind, said, head=self._notes.head() or None).id


# --- undoing a change of a note, by its event ---


def undo_note_change(notes: Notes, event: Event, *, dry_run: bool = False) -> Undone:
    """Undo a change of a note; later changes of other lines stay.

    `event`: one of kind `note.changed`; `dry_run`: only report what would be undone. Raises UsageError if the event is
    not a change of a note, or what it moved or deleted cannot be restored; CmError if the note cannot be read or
    written.
    """
    id_, target = event.text("note"), event.text("target")
    if event.kind != CHANGED or not id_:
        raise UsageError(f"The event {event.id} is not a change to a note.")
    if event.data.get("deleted") is True or target:
        return _undo_removal(notes, event, id_, target, dry_run=dry_run)
    return _undo_lines(notes, event, id_, dry_run=dry_run)


def text_before(shown: str, event: Event) -> str | None:
    """Return a note as it was before a change, to the letter; None: it has changed at these lines since.

    `event`: one of kind `note.changed`.
    """
    found = hunks.read_hunks(event.data.get("hunks"))
    lines = hunks.without_changes(hunks.lines_of(shown), found, exact=True) if found else None
    return None if lines is None else joined(lines, event)


def joined(lines: Sequence[str], event: Event) -> str:
    """Return the text of lines that were there before a change: without an end of the last line, if it had none."""
    text = "\n".join(lines)
    return text if not lines or event.data.get("open_end") == len(lines) else f"{text}\n"


def redo_note_change(notes: Notes, event: Event) -> str:
    """Make a change of the lines of a note again that was undone; returns the id of its event.

    `event`: one of kind `note.changed`. Raises UsageError if the event has no such change, the note has changed in the
    same lines since, or a line had a secret; CmError if the note cannot be read or written.
    """
    id_, found = event.text("note"), hunks.read_hunks(event.data.get("hunks"))
    if event.kind != CHANGED or not id_ or not found:
        raise UsageError(f"The event {event.id} contains no change to a note.")
    place = notes.places.place(id_)
    refuse_locked(place)
    with writing():
        file = notes.file(place)
        lines = hunks.without_changes(hunks.lines_of(file.shown), hunks.reversed_hunks(found))
        if lines is None or any(has_marks(line) for one in found for line in one.after):
            raise UsageError(f"{id_} has changed in the same lines since.", hint="Write it again: `cm notes edit`.")
        text = "".join(f"{line}\n" for line in lines)
        return NoteSaves(notes).put(place, file, text, Author())


def _undo_lines(notes: Notes, event: Event, id_: str, *, dry_run: bool) -> Undone:
    found, words = hunks.read_hunks(event.data.get("hunks")), f"changed {id_}"
    place = notes.places.place(id_)
    with writing():
        file = notes.file(place)
        there = hunks.lines_of(file.shown)
        lines = hunks.without_changes(there, found)
        if lines is None and hunks.is_unapplied(there, found):
            # Killed between recording and writing it; or the user undid it by hand.
            if not dry_run:
                NoteSaves(notes).tell(id_, {"undoes": event.id}, Author(), REVERTED)
            return Undone("", (id_,), f"{words}, which is no longer in it")
        if lines is None:
            then = "\n".join(line for one in found for line in one.after)
            back = "\n".join(line for one in found for line in one.before)
            return Undone("", (id_,), words, (Conflict(id_, id_, back, file.shown, then),))
        hidden = Counter(filter(has_marks, lines)) - Counter(filter(has_marks, hunks.lines_of(file.shown)))
        if hidden:
            raise UsageError(
                f"{id_} contained a possible secret, and secrets are never kept in the journal.",
                hint="Write these lines again: `cm notes edit`.",
            )
        if not dry_run:
            text = joined(lines, event)
            saves = NoteSaves(notes)
            if text.strip() or event.data.get("created") is not True:
                saves.put(place, file, text, Author(), REVERTED, undoes=event.id)
            else:
                # There was no such file before.
                saves.remove(place, REVERTED, file.data, undoes=event.id)
    return Undone("", (id_,), words)


def _undo_removal(notes: Notes, event: Event, id_: str, target: str, *, dry_run: bool) -> Undone:
    """Restore the file of a deleted or moved note."""
    words = f"moved {id_} to {target}" if target else f"deleted {id_}"
    place, kept = notes.places.place(id_), saved_file(event.id)
    moved = notes.places.place(target) if target else place
    with writing():
        # A moved one as it is now: it may have been changed where it was.
        now = notes.file(moved).data if target else None
        data = read_regular(kept, MOST_BYTES) if now is None else now
        there = notes.file(place).data
        if there not in (None, data):
            raise UsageError(f"Another note {id_} exists now.", hint="Rename that one first.")
        if data is None:
            raise UsageError(f"The saved file of {id_} no longer exists.")
        if dry_run:
            return Undone("", (id_,), words)
        refuse_read_only(place)
        saves = NoteSaves(notes)
        saves.tell(id_, {"undoes": event.id}, Author(), REVERTED)
        if there is None:
            write_data(place, data)
        if now is not None:
            # Its text is in a file at any moment.
            saves.remove(moved, REVERTED, now, undoes=event.id)
        kept.unlink(missing_ok=True)
    return Undone("", (id_,), words)
