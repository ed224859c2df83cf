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
from cm_tui.engine.memory.notes.hunks import merge, with_kept_lines
from cm_tui.engine.memory.notes.note_file import refuse_conflict, refuse_locked, saved_file, take_away, write_data
from cm_tui.engine.memory.notes.notes import Notes, read_data, refuse_links, text_of, written_like
from cm_tui.engine.memory.notes.places import NOTES_FOLDER, USER, Folder, Found, Places
from cm_tui.engine.memory.notes.scan import scan_folders
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.kinds import has_marks
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.files import Stamp
from cm_tui.model.author import Author
from cm_tui.state_file import read_object, write_json

# --- retired topics: outside the folders of notes, so never recalled, but readable by the user ---

PROJECT_ARCHIVE = f"{paths.PROJECT_FOLDER}/archive"
USER_ARCHIVE = "user-archive:"
TOPICS = "topics/"


class ArchivedTopics(Places):
    """The folders of retired topics of a project and of its user."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.folders = (
            Folder(root, PROJECT_ARCHIVE, "", "project", "project"),
            Folder(paths.data_dir() / "notes-archive", "", USER_ARCHIVE, "user", "user"),
        )

    def all(self) -> list[tuple[Found, Stamp]]:
        """Return the existing topics, each with its change stamp."""
        return [one for one in scan_folders(self).found.values() if one[0].kind == "topic"]


def is_archived(id_: str) -> bool:
    """Return whether an id is that of a retired topic."""
    return id_.startswith((f"{PROJECT_ARCHIVE}/", USER_ARCHIVE))


def place_of(notes: Notes, id_: str) -> Found:
    """Return the place of a note or retired topic, existing or not.

    Raises NotFoundError if the name is impossible; RefusedError if it is outside the folders of notes.
    """
    return ArchivedTopics(notes.root).place(id_) if is_archived(id_) else notes.places.place(id_)


def archived(notes: Notes, place: Found) -> Found:
    """Return where a topic lies once it is retired."""
    inside = place.path[place.path.index(TOPICS) :]
    return place_of(notes, f"{USER_ARCHIVE}{inside}" if place.scope == "user" else f"{PROJECT_ARCHIVE}/{inside}")


def restored(notes: Notes, place: Found) -> Found:
    """Return where a retired topic lies once it is back."""
    inside = place.path[place.path.index(TOPICS) :]
    return place_of(notes, f"{USER}{inside}" if place.scope == "user" else f"{NOTES_FOLDER}/{inside}")


# --- events on changes of several notes, and the current files including secrets ---

CHANGED = "topic.changed"
"""Kind of the event with the text of several notes before and after."""
REVERTED = "topic.reverted"
"""Kind of the event that records an undone change; it cannot itself be undone."""


class RecordedFile(NamedTuple):
    """One file in an event: its exact text with secrets redacted; None: no file."""

    note: str
    before: str | None
    after: str | None


class Now(NamedTuple):
    """Current state of a file in a change.

    Attributes:
        place: its path.
        told: the file in the event.
        data: its content; None: no file.
        shown: the exact text with secrets redacted.
    """

    place: Found
    told: RecordedFile
    data: bytes | None
    shown: str | None


class Pool(NamedTuple):
    """Lines of several files, redacted and original, to find the original of a redacted line."""

    shown: list[str]
    kept: list[str]


def files_of(event: Event) -> list[RecordedFile]:
    """Return the files of an event; unexpected values are skipped."""
    files = event.data.get("files")
    found = [one for one in files if isinstance(one, Mapping)] if isinstance(files, list) else []
    return [
        RecordedFile(one["note"], one.get("before"), one.get("after"))
        for one in found
        if isinstance(one.get("note"), str)
        and all(one.get(name) is None or isinstance(one[name], str) for name in ("before", "after"))
    ]


def shown(texts: Sequence[str]) -> list[str]:
    """Return texts without what looks like a secret, as an event has them."""
    clean: list[str] = redact_record({"texts": list(texts)})[0]["texts"]
    return clean


def pool_of(files: Sequence[Now], kept: Sequence[str] = ()) -> Pool:
    """Return the lines of files, and of texts saved with them."""
    texts = [text_of(one.data)[0] for one in files if one.data is not None] + list(kept)
    pairs = [
        pair
        for text, clean in zip(texts, shown(texts), strict=True)
        for pair in zip(clean.split("\n"), text.split("\n"), strict=True)
    ]
    return Pool([one for one, _ in pairs], [two for _, two in pairs])


def bytes_of(text: str | None, file: Now, pool: Pool) -> bytes | None:
    """Return a text of an event for a file, with the secrets of its redacted lines.

    `text`: from the event; None: no file. `file`: the file to write. `pool`: lines for finding secrets. Raises
    UsageError if a secret is not found.
    """
    if text is None or not has_marks(text):
        return None if text is None else text.encode("utf-8")
    lines = text_of(text.encode("utf-8"))[0].split("\n")
    known = set(pool.shown)
    if any(has_marks(line) and line not in known for line in lines):
        raise UsageError(
            f"{file.place.id} contained a possible secret, and secrets are never kept in the journal.",
            hint="Write these lines again: `cm notes edit`.",
        )
    return written_like(text.encode("utf-8"), "\n".join(with_kept_lines(pool.shown, pool.kept, lines)))


def as_text(place: Found, data: bytes | None) -> str | None:
    """Return the exact text of a file; None: no file. Raises UsageError if it is not text."""
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"The note {place.id} was not changed: it is not UTF-8.", hint="Save it as UTF-8 in an editor first."
        ) from error


# --- changes of several notes at once, such as merging topics ---

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
            event = self.record(CHANGED, said, writer or Author())
        except CmError:
            self._done()
            raise
        self.write(event, files)
        self._done()
        return event

    def record(self, kind: str, data: Mapping[str, Any], writer: Author) -> str:
        """Write the event of a change; returns its id.

        Raises UsageError if it is too much for one event; StoreError if the journal cannot be written.
        """
        said = {**data, "actor": writer.actor, "agent": writer.agent, "session": writer.session}
        if not all(str(one.get("note")).startswith((USER, USER_ARCHIVE)) for one in data["files"]):
            said["root"] = str(self._notes.root)
        try:
            return self._journal.append(kind, said, head=self._notes.head() or None).id
        except UsageError as error:
            raise UsageError(
                f"These notes are too long for one change: {error.message}",
                hint="Make one of them shorter first: split it, or remove lines with `cm notes edit`.",
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
                take_away(one.place, saved_file(f"{event}-{number}"), one.before)

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
        data = [content_of(place) for place in places]
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


def content_of(place: Found) -> bytes | None:
    """Return the content of a file; None: it does not exist."""
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
