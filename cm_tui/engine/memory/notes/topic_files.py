"""Changes of several notes at once, such as merging topics: one event with all texts, then the files.

A change that is killed halfway leaves a mark; the next change completes it. It can be undone, complete or not.
New text is written before old text is removed, so that each line is in a file at any moment.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.memory.notes.archived_topics import place_of
from cm_tui.engine.memory.notes.hunks import merge
from cm_tui.engine.memory.notes.note_file import kept_file, refuse_conflict, refuse_locked, take_away, write_data
from cm_tui.engine.memory.notes.note_reader import read_data, refuse_links
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.places import Found
from cm_tui.engine.memory.notes.topic_events import (
    CHANGED,
    REVERTED,
    Now,
    as_text,
    bytes_of,
    files_of,
    pool_of,
    shown,
)
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model.author import Author
from cm_tui.state_file import read_object, write_json

_UNDONE = "change.undone"
"""Kind of the event that undoes a change."""


class FileChange(NamedTuple):
    """Change of one file.

    Attributes:
        place: its path.
        before: its current content; None: no file.
        after: its new content; None: remove it.
    """

    place: Found
    before: bytes | None
    after: bytes | None


class TopicFiles:
    """Changes of several notes of a project; the caller holds all notes."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._journal = Journal.of(notes.root)
        self._unfinished = _unfinished(notes.root)

    def read(self, place: Found) -> bytes | None:
        """Return the content of a file; None: it does not exist.

        Raises UsageError if it is not text that could be written back; RefusedError if it is a link, is below one, or
        has a git conflict; StoreError if it cannot be read.
        """
        refuse_links(place)
        file = self._notes.file(place)
        refuse_conflict(place, file.text)
        return file.data

    def change(
        self, action: str, words: str, files: Sequence[FileChange], writer: Author | None = None, **more: Any
    ) -> str:
        """Record a change, then make it; return the id of the event.

        Args:
            action: the kind of change, one word.
            words: the change, for the user.
            files: all changed files.
            writer: who makes it; None: the user.
            more: further data of the event.

        Raises:
            UsageError: it is too long for one event; nothing is written.
            RefusedError: a file may not be written; nothing is written.
            StoreError: one cannot be written.
        """
        for one in files:
            refuse_locked(one.place)
        token = secrets.token_hex(8)
        texts = [
            {"note": one.place.id, "before": as_text(one.place, one.before), "after": as_text(one.place, one.after)}
            for one in files
        ]
        said = {"action": action, "words": words, "files": texts, "token": token, **more}
        self._mark(token)
        try:
            event = self.tell(CHANGED, said, writer or Author())
        except CmError:
            self._done()
            raise
        self.write(event, files)
        self._done()
        return event

    def tell(self, kind: str, data: Mapping[str, Any], writer: Author) -> str:
        """Write the event of a change; returns its id.

        Raises UsageError if it is too much for one event; StoreError if the journal cannot be written.
        """
        said = {**data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        try:
            return self._journal.append(kind, said, head=self._notes.head() or None).id
        except UsageError as error:
            raise UsageError(
                f"These notes are too long for one change: {error.message}",
                hint="Make one of them shorter first: split it, or take lines out with `cm notes edit`.",
            ) from error

    def write(self, event: str, files: Sequence[FileChange]) -> None:
        """Make the change of an event: first additions, then removals.

        Raises RefusedError if a file may not be written; StoreError if one cannot be written.
        """
        for one in files:
            if one.after is not None and one.after != one.before:
                write_data(one.place, one.after, one.before)
        for number, one in enumerate(files):
            if one.after is None and one.before is not None:
                take_away(one.place, kept_file(f"{event}-{number}"))

    def complete(self) -> str:
        """Complete a change whose process was killed; return its words; empty: none was left.

        A file that was edited since is merged; if that is impossible, it is left, and so are the removals. Raises
        RefusedError if a file may not be written; StoreError if one cannot be read or written.
        """
        event = self._last_unfinished()
        words = ""
        if event is not None:
            now = self.now_of(event)
            changes = [_finished(one) for one in now]
            can_all = all(change is not None for change in changes)
            pool = pool_of(now)
            files = [
                FileChange(one.place, one.data, bytes_of(change.after, one, pool))
                for one, change in zip(now, changes, strict=True)
                if change is not None and (change.after is not None or can_all)
            ]
            self.write(event.id, files)
            words = str(event.data.get("words", ""))
        self._done()
        return words

    def now_of(self, event: Event) -> list[Now]:
        """Return the current files of a change.

        Raises UsageError if one is not text that could be written back; RefusedError if one is a link, or is below one;
        StoreError if one cannot be read.
        """
        told = files_of(event)
        places = [place_of(self._notes, one.note) for one in told]
        data = [_data(place) for place in places]
        texts = [as_text(place, one) for place, one in zip(places, data, strict=True)]
        clean = iter(shown([text for text in texts if text is not None]))
        seen = [None if text is None else next(clean) for text in texts]
        return [Now(*one) for one in zip(places, told, data, seen, strict=True)]

    # --- parts ---

    def _mark(self, token: str) -> None:
        """Leave a mark, before an event tells of a change, that the change is not made yet."""
        write_json(self._unfinished, {"at": str(self._journal.end()), "token": token})

    def _done(self) -> None:
        with suppress(OSError):
            self._unfinished.unlink(missing_ok=True)

    def _last_unfinished(self) -> Event | None:
        """Return the change that the mark names; None if the journal lacks it or it was undone since."""
        said = _read_mark(self._unfinished)
        if said is None:
            return None
        position, token = said
        found: Event | None = None
        for event in self._journal.read(position) if self._journal.holds(position, "") else ():
            if event.kind == CHANGED and event.data.get("token") == token:
                found = event
            elif event.kind in (_UNDONE, REVERTED) and found is not None:
                is_of_it = found.id in (event.data.get("change"), event.data.get("undoes"))
                found = None if is_of_it else found
        return found


class _Finished(NamedTuple):
    after: str | None


def _finished(file: Now) -> _Finished | None:
    """Return the new content of a file; None: it was edited, and cannot be merged."""
    told, now = file.told, file.shown
    if now in (told.before, told.after):
        return _Finished(told.after)
    if now is None or told.before is None or told.after is None:
        return None
    merged = merge(told.before, told.after, now, "")
    return None if merged.conflicts else _Finished(merged.text)


def _data(place: Found) -> bytes | None:
    try:
        return read_data(place)
    except NotFoundError:
        return None


def _unfinished(root: Path) -> Path:
    name = hashlib.blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return paths.data_dir() / "note-changes" / f"unfinished-{name}.json"


def _read_mark(file: Path) -> tuple[Position, str] | None:
    said = read_object(file)
    try:
        return Position.parse(said["at"]), str(said["token"])
    except (ValueError, KeyError, TypeError, AttributeError, UsageError):
        return None
