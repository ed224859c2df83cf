"""The archive of a journal: old episodes in compressed files next to it, each written once.

A line of the archive is one episode: its event from the journal, and the events of its turn. A moved event leaves its
id in the journal, and a hole that takes no space on file systems with sparse files: all positions stay valid.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.platform.journal.erasure import Unfinished, copy_with
from cm_tui.engine.platform.journal.event import MOVED, Event, Position, as_event, parse_line
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.segment import line_before, sync_folder
from cm_tui.errors import StoreError
from cm_tui.files import remove_left_overs, replacing

FOLDER = "archive"
ARCHIVED = "episode.archived"
"""Kind of the event behind which episodes are in the archive, in the file that it names."""
_SUFFIX = ".jsonl.gz"
_PIECE = 1_000_000


class Extent(NamedTuple):
    """Position of a line in a journal."""

    segment: int
    start: int
    end: int
    """Behind its last byte."""
    id: str
    time: float


class Archive:
    """The archive of one journal. `journal`: the journal next to it."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.folder = journal.folder / FOLDER

    def files(self) -> list[int]:
        """Return the numbers of its files, in order. Raises StoreError if the folder cannot be read."""
        try:
            names = [file.name for file in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(
                f"The archive {self.folder} cannot be read: {error}", hint="Check its permissions."
            ) from error
        return sorted(
            int(name[: -len(_SUFFIX)]) for name in names if name[: -len(_SUFFIX)].isdecimal() and name.endswith(_SUFFIX)
        )

    def file(self, number: int) -> Path:
        """Return the file of a number, existing or not."""
        return self.folder / f"{number:06}{_SUFFIX}"

    def extent(self, event: Event) -> Extent | None:
        """Return the position of an event's line in the journal; None: no line ends there.

        Raises OSError if the file cannot be read.
        """
        at = event.position
        with self.journal.file(at.segment).open("rb") as file:
            size = len(line_before(file, at.offset))
        return Extent(at.segment, at.offset - size, at.offset, event.id, event.time) if size else None

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(self.file(number).stat().st_size for number in self.files())

    def read(self, number: int) -> Iterator[tuple[int, Event]]:
        """Yield the episodes of a file, with their places in it; a deleted one has no line.

        Raises StoreError if it cannot be read, or is damaged.
        """
        for place, line in enumerate(self._lines(number)):
            event = _event(line, Position(number, place))
            if event is not None:
                yield place, event

    def whole(self, number: int) -> Iterator[tuple[Event, list[Event]]]:
        """Yield the episodes of a file, each with the events of its turn.

        Raises StoreError if it cannot be read, or is damaged.
        """
        for place, line in enumerate(self._lines(number)):
            event = _event(line, Position(number, place))
            if event is not None:
                turn = (_parsed(text, event.position) for text in json.loads(line).get("turn") or ())
                yield event, [one for one in turn if one is not None]

    def one(self, number: int, place: int) -> Event | None:
        """Return the episode at a place; None: none there.

        Raises StoreError if the file cannot be read, or is damaged.
        """
        line = next(islice(self._lines(number), place, None), b"")
        return _event(line, Position(number, place)) if line else None

    def write(self, episodes: Iterable[tuple[Extent, Sequence[Extent]]]) -> int:
        """Write a new file of episodes, each with the lines of its turn, and wait until it is on disk.

        Returns its number. Raises OSError if it cannot be written.
        """
        return self.add((one.id, self._text(one), [self._text(said) for said in turn]) for one, turn in episodes)

    def add(self, episodes: Iterable[tuple[str, str, Sequence[str]]]) -> int:
        """Write a new file as `write` does, from ids, lines of episodes and lines of their turns."""
        number = max(self.files(), default=0) + 1
        paths.private_dir(self.folder)
        lines = ({"id": id_, "event": event, "turn": list(turn)} for id_, event, turn in episodes)
        self._write(number, (json.dumps(line).encode() + b"\n" for line in lines))
        return number

    def keep(self, ids: Collection[str]) -> None:
        """Delete all episodes but these, and overwrite the others' remains on disk.

        Raises OSError if a file cannot be written; StoreError if a file cannot be read.
        """
        for number in self.files():
            lines = list(self._lines(number))
            left = [line for line in lines if _id(line) in ids]
            if len(left) == len(lines):
                continue
            # Windows replaces no file that is open.
            old = self.file(number).open("rb+") if os.name != "nt" else None
            # An empty file keeps its number, which is never reused.
            self._write(number, left)
            if old is not None:
                with old:
                    old.write(bytes(os.fstat(old.fileno()).st_size))
                    old.flush()
                    os.fsync(old.fileno())

    def _write(self, number: int, lines: Iterable[bytes]) -> None:
        file = self.file(number)
        remove_left_overs(file)
        with replacing(file, durable=True) as temporary, temporary.open("wb") as raw:
            # Without a time and a name, equal content makes equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                stream.writelines(lines)
            raw.close()
        sync_folder(self.folder)

    def _lines(self, number: int) -> Iterator[bytes]:
        try:
            with gzip.open(self.file(number), "rb") as stream:
                yield from stream
        except FileNotFoundError:
            return
        except (OSError, EOFError, zlib.error) as error:
            raise StoreError(
                f"The archive {self.file(number)} cannot be read: {error}",
                hint="Restore it from a backup, or remove it.",
            ) from error

    def _text(self, line: Extent) -> str:
        with self.journal.file(line.segment).open("rb") as file:
            file.seek(line.start)
            return file.read(line.end - line.start).decode("ascii", "backslashreplace").strip()


def _event(line: bytes, at: Position) -> Event | None:
    try:
        return _parsed(json.loads(line)["event"], at)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _parsed(text: object, at: Position) -> Event | None:
    fields = parse_line(text.encode("ascii", "backslashreplace")) if isinstance(text, str) else ""
    return as_event(fields, at) if isinstance(fields, dict) else None


def _id(line: bytes) -> str:
    try:
        return str(json.loads(line)["id"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


# --- what moved leaves the journal ---


MOVING = Unfinished("archiving.json", "Remove it, and run `cm episodes retention` again.")


def live_bytes(journal: Journal) -> int:
    """Return the size of a journal without erased and archived events.

    Raises OSError if a file cannot be read.
    """
    total = 0
    for segment in journal.segments():
        with journal.file(segment).open("rb") as file:
            while piece := file.read(_PIECE):
                total += len(piece) - piece.count(0)
    return total


def hollow(journal: Journal, lines: Iterable[Extent]) -> None:
    """Reduce lines to their ids and times, and a hole; the caller holds the journal.

    Raises OSError if the disk is full or read-only.
    """
    for segment, found in groupby(sorted(lines), key=lambda line: line.segment):
        file = journal.file(segment)
        remove_left_overs(file)
        with replacing(file, durable=True) as successor, file.open("rb") as old, successor.open("wb") as new:
            copy_with(old, new, ((line.start, line.end, _what_is_left(line)) for line in found))
    sync_folder(journal.folder)


def _what_is_left(line: Extent) -> bytes:
    fields: Mapping[str, Any] = {"id": line.id, "time": line.time, "kind": MOVED, "head": None, "data": {}}
    text = json.dumps(fields, separators=(",", ":")).encode()
    size = line.end - line.start - 1
    # A line that is too short for that becomes blank: zeros alone are debris.
    return text if len(text) < size else b" " * size
