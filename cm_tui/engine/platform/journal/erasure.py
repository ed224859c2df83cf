"""Erasing the content of events in a journal's files; all positions stay valid.

An erased line keeps its length: the rest of the event is filled with blanks. So a reader continues at its position,
whatever was erased before it. A file is replaced as a whole by its successor, and the content of the old one is
overwritten afterwards; after a crash in between, one of the two is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import BinaryIO, NamedTuple

from cm_tui.engine.platform.journal.event import ERASED, ERASURE
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.segment import sync_folder
from cm_tui.errors import StoreError
from cm_tui.files import remove_left_overs, replacing, write_atomically
from cm_tui.locks import locked

_LOCK = "erasing.lock"
_WAIT_SECONDS = 60.0
_NAMES = 10_000
"""Names that are put into one event, which has a limit."""
_PIECE = 1_000_000


class Line(NamedTuple):
    """An erased line, and its remains."""

    segment: int
    start: int
    end: int
    """Behind its last byte."""
    left: tuple[str, float, str] | None
    """Id, time and kind of the event; None: nothing is left but blanks."""
    origin: str = ""
    """Digest that names the turn in a transcript: it is not imported again."""


def erase_lines(journal: Journal, lines: Sequence[Line], names: Sequence[str]) -> None:
    """Record the erasure of events, and erase their lines; the caller holds the journal.

    `journal`: the journal, held; `lines`: the erased lines, in order; `names`: ids of the erased events, for readers
    that have them. Raises StoreError if the disk is full or read-only; OSError: the same, for a file.
    """
    for first in range(0, len(names), _NAMES):
        journal.append_held(ERASURE, {"ids": list(names[first : first + _NAMES])})
    for segment in journal.segments():
        # A process that was killed may have left a copy of the file.
        remove_left_overs(journal.file(segment))
    for segment, found in groupby(lines, key=lambda line: line.segment):
        _rewrite(journal.file(segment), list(found))
    sync_folder(journal.folder)


class Unfinished:
    """A record on disk of events that are being changed, for finishing an interrupted change. `hint`: if damaged."""

    def __init__(self, name: str, hint: str) -> None:
        self._name = name
        self._hint = hint

    def note(self, journal: Journal, names: Iterable[str]) -> None:
        """Record ids before their events are changed. Raises OSError if it cannot be written."""
        remove_left_overs(journal.folder / self._name)
        write_atomically(journal.folder / self._name, json.dumps({"names": list(names)}), durable=True)
        sync_folder(journal.folder)

    def names(self, journal: Journal) -> tuple[str, ...]:
        """Return the ids of an interrupted change. Raises StoreError if the record of it cannot be read."""
        file = journal.folder / self._name
        try:
            found = json.loads(file.read_bytes())
            return tuple(str(name) for name in (found if isinstance(found, list) else found["names"]))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{file} cannot be read: {error}", hint=self._hint) from error

    def forget(self, journal: Journal) -> None:
        """Note that the change is complete."""
        (journal.folder / self._name).unlink(missing_ok=True)


ERASING = Unfinished("erasing.json", "Remove it and erase again.")


@contextmanager
def alone(journal: Journal) -> Iterator[None]:
    """Block other erasures of the same journal; appending is not blocked.

    Raises StoreError if another erasure is running.
    """
    with journal.held():
        # Create the journal if it is missing.
        pass
    with locked(journal.folder / _LOCK, _WAIT_SECONDS):
        yield


def _rewrite(file: Path, lines: Sequence[Line]) -> None:
    patches = [(line.start, line.end, _what_is_left(line)) for line in lines]
    with file.open("rb+") as old:
        with replacing(file, durable=True) as successor, successor.open("wb") as new:
            copy_with(old, new, patches)
            new.flush()
            # Windows replaces no file that is open.
            if os.name == "nt":
                old.close()
        if os.name != "nt":
            _overwrite(old, patches)


def copy_with(old: BinaryIO, new: BinaryIO, patches: Iterable[tuple[int, int, bytes]]) -> None:
    """Copy a file with other content in some lines, each given by start, end and text; a shorter text leaves a hole."""
    at = 0
    for start, end, text in patches:
        _copy_part(old, new, start - at)
        new.write(text)
        new.seek(end - 1)
        new.write(b"\n")
        at = old.seek(end)
    _copy_part(old, new, None)


def _copy_part(old: BinaryIO, new: BinaryIO, size: int | None) -> None:
    while (size is None or size > 0) and (piece := old.read(_PIECE if size is None else min(size, _PIECE))):
        new.write(piece)
        size = None if size is None else size - len(piece)


def _overwrite(old: BinaryIO, patches: Iterable[tuple[int, int, bytes]]) -> None:
    """Overwrite the old file's remains on disk, as far as the file system writes in place."""
    # It has no name any more; an open reader still finds lines where lines were.
    for start, _, text in patches:
        old.seek(start)
        old.write(text)
    old.flush()
    os.fsync(old.fileno())


def _what_is_left(line: Line) -> bytes:
    """Return as many bytes as the line had."""
    size = line.end - line.start
    blank = b" " * (size - 1) + b"\n"
    if line.left is None:
        return blank
    name, time, kind = line.left
    named = [{"kind": kind, "origin": line.origin}] if line.origin else []
    for data in (*named, {"kind": kind}, {}):
        fields = {"id": name, "time": time, "kind": ERASED, "head": None, "data": data}
        text = json.dumps(fields, separators=(",", ":")).encode()
        if len(text) < size:
            return text.ljust(size - 1) + b"\n"
    return blank
