"""Writing the file of a note: whole, under a lock, never through a link."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.memory.notes.hunks import merge
from cm_tui.engine.memory.notes.known_scan import wrote
from cm_tui.engine.memory.notes.note_reader import read_data, refuse_links, text_of, written_like
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.platform.git.conflict_marks import conflict_line
from cm_tui.errors import NotFoundError, RefusedError, StoreError
from cm_tui.files import wait_until_quiet, write_atomically, write_if_unchanged
from cm_tui.same_names import twin_of
from cm_tui.state_file import holding, make_room, reported

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
