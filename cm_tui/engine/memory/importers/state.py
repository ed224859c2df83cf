"""Positions in transcripts, in small files next to the journal, and how a replaced transcript is noticed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Self

from cm_tui.engine.memory.transcripts.lines import opened
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import StoreError, UsageError
from cm_tui.files import read_regular, write_atomically
from cm_tui.state_file import holding, read_object, write_json

FOLDER = "imports"
VERSION = 2
"""Of the rules by which transcripts are read. Before 2, a prompt at the end that was never answered was skipped."""
_LOCK = "lock"
_WHERE = "where"
"""Not the name of a state."""
_STATE_BYTES = 20_000_000
_HEAD = 1_024
_TAIL = 256


@dataclass
class TranscriptState:
    """How far one transcript was read."""

    name: str
    version: int = 1
    """Of the rules by which it was read."""
    offset: int = 0
    turns: int = 0
    """Turns that were read before that place."""
    recorded: int = 0
    """Turns before that place that count in the session: the number of the last one."""
    size: int = 0
    """Of the file when it was read."""
    stamp: float = 0.0
    head: str = ""
    """Digest of its beginning."""
    tail: str = ""
    """Digest of the data before the position."""
    session: str = ""
    """The session that its turns are of."""
    own: str = ""
    """The session in its file."""
    leaf: str = ""
    """Id of its last record, which another file may go on behind."""
    marks: dict[str, Any] = field(default_factory=dict)
    counted: int = 0
    """Up to here records that were not taken are counted."""
    kept: int = 0
    """Characters stored of records of unknown kinds."""
    waits: bool = False
    """A turn behind that place is under way."""
    origins: list[str] = field(default_factory=list)
    """Digests of the turns that were taken from it: they are not taken again, also when they were erased."""


class ImportState:
    """The states of one project."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.folder = journal.folder / FOLDER
        self.unreadable: set[str] = set()
        """Unreadable files of positions."""

    @contextmanager
    def held(self, seconds: float = 5.0) -> Iterator[None]:
        """Keep other imports of the project waiting.

        Raises StoreError if another one is running, or the folder cannot be used.
        """
        with holding(lock := self.folder / _LOCK, seconds):
            with suppress(OSError):  # for those who wait; the lock itself does not need it
                lock.write_text(str(os.getpid()), encoding="ascii")
            yield

    def holder(self) -> str:
        """Return which other import is running, in words; empty: none."""
        try:
            with self.held(0.0):
                return ""
        except StoreError:
            found = read_regular(self.folder / _LOCK, 20) or b""
        pid = found.decode("ascii", "replace").strip()
        by = "this process" if pid == str(os.getpid()) else f"process {pid}" if pid.isdecimal() else "another process"
        return f"another import of this project is running ({by})"

    def has_any(self) -> bool:
        """Return whether a transcript of the project was ever read."""
        return next(self._files(), None) is not None

    def load(self, name: str) -> TranscriptState:
        """Return the state of a transcript; a new one where it is missing, or the journal was removed since."""
        found = self._read(self._file(name)) or TranscriptState(name)
        found.name = name
        return found

    def all(self) -> Iterator[TranscriptState]:
        """Yield the states of all transcripts."""
        for file in self._files():
            state = self._read(file)
            if state is not None:
                yield state

    def save(self, state: TranscriptState, at: tuple[Position, str] | None) -> None:
        """Store a state.

        `at`: the journal's last event from an import: without it the state is invalid. Raises OSError if it cannot be
        written.
        """
        kept = {"journal": [str(at[0]), at[1]] if at else None, **asdict(state)}
        write_atomically(self._file(state.name), json.dumps(kept, ensure_ascii=True))

    def keep_environment(self, environment: Mapping[str, str] | None, folders: Sequence[str]) -> None:
        """Store the user's places of transcripts and former folders of the project, for following later.

        Raises StoreError if it cannot be written.
        """
        kept, earlier = self.environment()
        named = {**kept, **(environment or {})}
        known = list(dict.fromkeys((*earlier, *folders)))
        if (named, known) == (kept, earlier):
            return
        with self.held():
            write_json(self.folder / _WHERE, {"environment": named, "folders": known}, durable=False)

    def environment(self) -> tuple[dict[str, str], list[str]]:
        """Return the places of transcripts by the agents' variables, and the project's former folders."""
        try:
            kept = read_object(self.folder / _WHERE)
            named = {str(name): str(value) for name, value in kept.get("environment", {}).items()}
            return named, [str(folder) for folder in kept.get("folders", ())]
        except (ValueError, AttributeError, TypeError):
            return {}, []

    def _file(self, name: str) -> Path:
        return self.folder / f"{sha256(os.fsencode(name)).hexdigest()[:24]}.json"

    def _files(self) -> Iterator[Path]:
        yield from (file for file in sorted(self.folder.glob("*.json")) if not file.name.startswith("."))

    def _read(self, file: Path) -> TranscriptState | None:
        data = read_regular(file, _STATE_BYTES)
        if data is None and not os.path.lexists(file):
            return None
        try:
            kept = json.loads(data or b"")
            at = kept["journal"]
            if at is not None and not self._journal.holds(Position.parse(at[0]), str(at[1])):
                return None
            return _state_of(kept)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, UsageError, RecursionError):
            # A damaged one costs a full reading: the journal knows imported and erased turns.
            self.unreadable.add(file.name)
            return None


def _state_of(kept: Mapping[str, Any]) -> TranscriptState:
    state = TranscriptState(str(kept["name"]))
    for one in fields(TranscriptState):
        value, default = kept.get(one.name), getattr(state, one.name)
        if isinstance(value, type(default)) or (isinstance(default, float) and isinstance(value, int)):
            setattr(state, one.name, value)
    state.origins = [str(origin) for origin in state.origins]
    return state


def digests(stream: BinaryIO, offset: int) -> tuple[str, str]:
    """Return a file's fingerprint: its beginning, and the data before a place in it.

    Raises OSError if it cannot be read.
    """
    stream.seek(0)
    head = stream.read(min(_HEAD, offset))
    stream.seek(max(0, offset - _TAIL))
    tail = stream.read(min(_TAIL, offset))
    return _digest((head,)), _digest((tail,))


def _digest(pieces: Iterable[bytes]) -> str:
    return sha256(b"".join(pieces)).hexdigest()[:16]


class ReadFile:
    """A file opened by name: while it is open, a new file of that name can be distinguished."""

    def __init__(self, file: Path, stream: BinaryIO) -> None:
        self._file = file
        self._stream = stream
        self._before = os.fstat(stream.fileno())
        self._beginning = self._head()
        self._was_replaced = False

    @classmethod
    @contextmanager
    def held(cls, file: Path) -> Iterator[Self]:
        """Keep a file open. Raises OSError if it was removed, or cannot be read."""
        # Unbuffered: a buffer would return bytes from before the file was rewritten.
        with opened(file, buffering=0) as stream:
            yield cls(file, stream)

    def is_appended(self, state: TranscriptState) -> bool:
        """Return whether the part read earlier is unchanged. Raises OSError if it cannot be read."""
        if not state.offset:
            return True
        is_whole = self._before.st_size >= state.offset
        return is_whole and digests(self._stream, state.offset) == (state.head, state.tail)

    def is_unchanged(self) -> bool:
        """Return whether the file was neither replaced nor rewritten; False is final. Appending does not count."""
        try:
            self._was_replaced = self._was_replaced or not self._is_same_file() or self._head() != self._beginning
        except OSError:
            self._was_replaced = True
        return not self._was_replaced

    def keep(self, state: TranscriptState) -> bool:
        """Store the file's fingerprint; False: it was replaced, and nothing counts as read.

        Raises OSError if it cannot be read.
        """
        if not self.is_unchanged():
            state.offset = state.turns = state.counted = state.size = 0
            state.stamp, state.marks, state.head, state.tail = 0.0, {}, "", ""
            return False
        # Later additions are new the next time.
        state.size, state.stamp = self._before.st_size, self._before.st_mtime
        state.head, state.tail = digests(self._stream, state.offset)
        return True

    def _is_same_file(self) -> bool:
        """Return whether its path still leads to it, and it has not become shorter."""
        try:
            now = self._file.stat()
        except OSError:
            return False
        known = self._before
        return (now.st_dev, now.st_ino) == (known.st_dev, known.st_ino) and now.st_size >= known.st_size

    def _head(self) -> str:
        return digests(self._stream, self._before.st_size)[0]
