"""The notes that a project sees, and reading their files."""

from __future__ import annotations

import codecs
import datetime as dt
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.notes.note_text import FrontMatter, day_of_path, first_heading, front_matter, seconds_of
from cm_tui.engine.memory.notes.places import Found, below_a_link, day_note
from cm_tui.engine.memory.notes.scan import places_of, scan_folders, scan_notes, stamp_of
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import NotFoundError, RefusedError, StoreError, UsageError
from cm_tui.files import Stamp, read_below
from cm_tui.model import Note
from cm_tui.model.ids import ambiguous
from cm_tui.same_names import name_key

# --- reading a note: its text and front matter ---

MOST_BYTES = 4_000_000
"""A longer note is listed and not searched."""
_TITLE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A note as its file has it."""

    note: Note
    lines: tuple[str, ...]
    """Of its text, the front matter included; without line ends."""
    skipped: int
    """Lines of the front matter."""


def read_data(place: Found) -> bytes:
    """Return the content of a note's file.

    Raises NotFoundError if the file does not exist; RefusedError if it is a link, or is below one; StoreError if it is
    too long, or cannot be read.
    """
    try:
        return read_below(place.base, place.path, MOST_BYTES)
    except FileNotFoundError as error:
        raise NotFoundError(f"Note not found: {place.id}.", hint="`cm notes list` lists them.") from error
    except (OSError, ValueError) as error:
        refuse_links(place)
        reason = getattr(error, "strerror", None) or error
        raise StoreError(
            f"Cannot read the note {place.id}: {reason}.",
            hint=f"Check its permissions; a note has at most {MOST_BYTES:,} bytes.",
        ) from error


def refuse_links(place: Found) -> None:
    """Refuse a note that is a link, or is below one. Raises RefusedError if it is."""
    if below_a_link(place.base, place.path):
        raise RefusedError(
            f"{place.file} is a symbolic link or below one: notes there are neither read nor written.",
            hint="Replace it with a regular file.",
        )


def read_note(place: Found, stamp: Stamp) -> ReadNote:
    """Read a note; problems are part of the result."""
    if stamp.size > MOST_BYTES:
        return _unread(place, stamp, f"it has {stamp.size:,} bytes, and at most {MOST_BYTES:,} are read")
    try:
        data = read_data(place)
    except (NotFoundError, RefusedError, StoreError) as error:
        return _unread(place, stamp, error.message)
    return parse_note(place, stamp, data)


def parse_note(place: Found, stamp: Stamp, data: bytes) -> ReadNote:
    """Return the note that a file's content makes."""
    text, problem = text_of(data)
    lines = tuple(text.split("\n"))
    said = front_matter(lines)
    note = Note(
        id=place.id,
        kind=place.kind,
        scope=place.scope,
        file=str(place.file),
        title=redact(_title(place, said, lines)).text,
        time=_time(place, said),
        modified=stamp.changed_ns / 1e9,
        bytes=stamp.size,
        lines=len(lines) - (lines[-1] == ""),
        digest=digest_of(data),
        tags=tuple(redact(tag).text for tag in said.tags),
        writable=place.writable,
        problem=problem or said.problem,
    )
    return ReadNote(note, lines, said.lines)


def text_of(data: bytes) -> tuple[str, str]:
    """Decode content to text with plain line ends, and return problems."""
    if b"\0" in data[:8_000]:
        return "", "it is not text"
    try:
        text, problem = data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        text, problem = data.decode("utf-8-sig", "replace"), "it is not UTF-8; unreadable characters show as �"
    return text.replace("\r\n", "\n").replace("\r", "\n"), problem


def written_like(data: bytes, text: str) -> bytes:
    """Encode a text with the line ends and byte order mark of the earlier file."""
    # By the majority of its lines: a pasted one does not change the others.
    windows = 2 * data.count(b"\r\n") > data.count(b"\n")
    encoded = (text.replace("\n", "\r\n") if windows else text).encode("utf-8")
    return codecs.BOM_UTF8 + encoded if data.startswith(codecs.BOM_UTF8) else encoded


def digest_of(data: bytes) -> str:
    """Return what names a content."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _unread(place: Found, stamp: Stamp, problem: str) -> ReadNote:
    note = Note(
        place.id, place.kind, place.scope, str(place.file), _name(place), None, stamp.changed_ns / 1e9, stamp.size, 0, "",
        writable=place.writable, problem=problem,
    )  # fmt: skip
    return ReadNote(note, (), 0)


def _title(place: Found, said: FrontMatter, lines: Sequence[str]) -> str:
    return (said.title or first_heading(lines[said.lines :]) or _name(place))[:_TITLE_CHARACTERS]


def _name(place: Found) -> str:
    return place.path.rpartition("/")[2].rpartition(".")[0] or place.path


def _time(place: Found, said: FrontMatter) -> float | None:
    """Return the day of a note; long-term memory, instructions and evergreen notes have none."""
    if said.evergreen or place.kind in {"long-term", "instructions"}:
        return None
    day = day_of_path(place.path) or said.day
    return None if day is None else seconds_of(day)


# --- the notes that a project sees, and what their files hold ---


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
        for places in self.scans():
            if (found := named_in(places, name)) is not None:
                return found
        wanted = name.strip().removeprefix("note/")
        if (alike := self._alike(wanted)) is not None:
            return alike
        # Reports a place outside; an empty place is no note.
        place = self.places.place(wanted)
        raise NotFoundError(f"Note not found: {place.id}.", hint="`cm notes list` lists them.")

    def scans(self) -> Iterator[list[Found]]:
        """Yield the places of all notes as known, then by another look at the folders."""
        yield [place for place, _ in scan_notes(self.places).found.values()]
        # The system may not have reported another process's latest writes yet.
        yield [place for place, _ in scan_folders(self.places).found.values()]

    def _alike(self, wanted: str) -> Found | None:
        """Return the note with the same name on macOS and Windows.

        Raises UsageError if the name is ambiguous.
        """
        keys = (name_key(wanted), name_key(f"{wanted}.md"))
        ends = tuple(f"{mark}{key}" for mark in "/:" for key in keys)
        places = next(self.scans())
        return _only(wanted, [one for one in places if (key := name_key(one.id)) in keys or key.endswith(ends)], "note")

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


def named_in(places: Sequence[Found], name: str, what: str = "note") -> Found | None:
    """Return the place that a name means, by its id or a unique ending of it; None: no such place.

    `what`: kind of item, for the message. Raises UsageError if the name is ambiguous.
    """
    wanted = name.strip().removeprefix("note/")
    ends = tuple(f"{mark}{one}" for mark in "/:" for one in (wanted, f"{wanted}.md"))
    exact = [one for one in places if one.id == wanted]
    return _only(wanted, exact or [one for one in places if one.id.endswith(ends)], what)


def _only(wanted: str, found: Sequence[Found], what: str) -> Found | None:
    if len(found) > 1:
        raise ambiguous(wanted, what, sorted(one.id for one in found))
    return found[0] if found else None
