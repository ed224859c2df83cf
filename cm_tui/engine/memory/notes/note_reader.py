"""Reading a note: its text and front matter."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from cm_tui.engine.memory.notes.front_matter import FrontMatter, day_of_path, front_matter, seconds_of
from cm_tui.engine.memory.notes.headings import first_heading
from cm_tui.engine.memory.notes.places import Found, below_a_link
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import NotFoundError, RefusedError, StoreError
from cm_tui.files import Stamp, read_below
from cm_tui.model import Note

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
