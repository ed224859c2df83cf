"""One project's journal: append from any process, read on from anywhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Self

from cm_tui import paths
from cm_tui.engine.platform.journal.event import (
    ERASED,
    MAX_BYTES,
    Event,
    Position,
    Problem,
    as_event,
    new_line,
    parse_line,
)
from cm_tui.engine.platform.journal.location import base, claim, folder_of
from cm_tui.engine.platform.journal.segment import append_whole, line_before, lines, size_of
from cm_tui.errors import StoreError
from cm_tui.locks import locked

SEGMENT_BYTES = 16_000_000
"""A file that has reached this size is closed, and the next one begun."""
LOCK_SECONDS = 10.0
_LOCK = "lock"
START = Position(1, 0)
"""Before the first event."""


class Journal:
    """Events of one project in files `000001.jsonl`, `000002.jsonl` …, each line written once.

    Only an erasure changes a line, which keeps its length. An event that `append` returned is on disk. A crash in the
    middle of a write leaves a torn line: the next append and every reader skip it, and `problems` reports it. `folder`:
    of the files; created with the first event. `segment_bytes`: size from which a new file is begun. `root`: of the
    checkout that writes, which owns a journal that it begins.
    """

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES, root: Path | None = None) -> None:
        self.folder = folder
        self._root = root
        self._segment_bytes = segment_bytes

    @classmethod
    def of(cls, root: Path) -> Self:
        """The journal of the project at a root; all its clones and worktrees share it.

        Raises RefusedError if git's data cannot be opened.
        """
        return cls(folder_of(root), root=root)

    @classmethod
    def named(cls, project: str) -> Self:
        """Return the journal of a project by the name of its folder."""
        return cls(base() / project)

    def append(self, kind: str, data: Mapping[str, Any], *, head: str | None = None) -> Event:
        """Write an event and wait until it is on disk.

        Possible secrets are redacted in every text: branch and file names, arguments, ids. `kind`: kind of event, such
        as `hook.git`; `data`: a mapping of JSON values; `head`: the commit that is checked out. Raises StoreError if
        the disk is full or read-only, or another process holds the journal; UsageError if the data cannot be written as
        JSON, or is too much.
        """
        fields, line = new_line(kind, data, head)
        return as_event(fields, self.append_line(line))

    def append_line(self, line: bytes) -> Position:
        """Write the line of an event and wait until it is on disk; return the start of the next one.

        Raises StoreError as for `append`.
        """
        with self.held():
            return self._write(line)

    def append_all(self, kind: str, records: Sequence[tuple[Mapping[str, Any], str | None]]) -> list[Event]:
        """Write several events and wait once until they are on disk; readers see them one by one, as after `append`.

        `records`: the data of each, and the commit that was checked out. Raises StoreError as `append`; none of them
        counts as written. UsageError as `append`; none of them is written.
        """
        made = [new_line(kind, data, head) for data, head in records]
        if not made:
            return []
        with self.held():
            end = self._write(b"".join(line for _, line in made))
        places = accumulate((-len(line) for _, line in reversed(made)), initial=end.offset)
        ends = [Position(end.segment, offset) for offset in islice(places, len(made))][::-1]
        return [as_event(fields, place) for (fields, _), place in zip(made, ends, strict=True)]

    def append_after(
        self, cause: Event, kind: str, data: Mapping[str, Any], *, head: str | None = None
    ) -> Event | None:
        """Write an event derived from another one; None: that one was erased meanwhile.

        Raises StoreError as `append`; UsageError as `append`.
        """
        with self.held():
            if not self.holds(cause.position, cause.id) or self._kind_at(cause.position) == ERASED:
                return None
            return self.append_held(kind, data, head=head)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the journal, which blocks writes by other processes; it is created if missing.

        Raises StoreError if its folder cannot be used, or another process holds it.
        """
        if self._root is not None and not self.folder.exists():
            claim(self.folder.name, self._root)
        with self._reported():
            paths.private_dir(paths.private_dir(self.folder.parent) / self.folder.name)
            with locked(self.folder / _LOCK, LOCK_SECONDS):
                yield

    def append_held(self, kind: str, data: Mapping[str, Any], *, head: str | None = None) -> Event:
        """The same as `append`, for a caller that holds the journal."""
        fields, line = new_line(kind, data, head)
        return as_event(fields, self._write(line))

    def read(self, after: Position | None = None, *, kinds: Collection[str] = ()) -> Iterator[Event]:
        """Events in the order in which they were written; invalid lines are skipped.

        An event that is being written is left for the next time. `after`: an event's position, to read on behind it;
        None: from the beginning; `kinds`: of the events wanted, which is a tenth of the work where they are few; empty:
        all. Raises StoreError if a file cannot be read.
        """
        for found in self.scan(after or START, kinds=kinds):
            if isinstance(found, Event) and (not kinds or found.kind in kinds):
                yield found

    def problems(self) -> tuple[Problem, ...]:
        """Torn and unreadable lines, with where they are.

        Raises StoreError if a file cannot be read, or another process holds the journal.
        """
        return self.torn(START)

    def torn(self, start: Position) -> tuple[Problem, ...]:
        """The same from a position on. Raises StoreError as `problems`."""
        if not (self.folder / _LOCK).exists():
            return ()
        # Under the lock a line without an end is torn, not unfinished.
        with self._reported(), locked(self.folder / _LOCK, LOCK_SECONDS):
            return tuple(found for found in self.scan(start, torn=True) if isinstance(found, Problem))

    def locate(self, problem: Problem) -> str:
        """Return place and kind of a problem, for a user who opens the file.

        Raises StoreError if the file cannot be read.
        """
        file = self.file(problem.position.segment)
        with self._reported(), file.open("rb") as stream:
            left, line = problem.position.offset, 1
            while left > 0 and (piece := stream.read(min(left, MAX_BYTES))):
                left -= len(piece)
                line += piece.count(b"\n")
        return f"{file}, line {line:,}: {problem.reason}"

    def end(self) -> Position:
        """Return where the next event will begin: reading from here yields only later events."""
        segments = self.segments()
        if not segments:
            return START
        with self._reported():
            return Position(segments[-1], self.file(segments[-1]).stat().st_size)

    def holds(self, position: Position, event_id: str) -> bool:
        """Return whether an event ends at a position: otherwise this is another journal than the one read.

        `position`: end of the event that was read last; `START` is valid in every journal. `event_id`: of that event;
        empty: unknown, accept any line. Raises StoreError if a file cannot be read.
        """
        if position == START:
            return True
        line = self._line_before(position)
        if not line or not event_id:
            return bool(line)
        fields = parse_line(line)
        return isinstance(fields, dict) and fields["id"] == event_id

    def _kind_at(self, position: Position) -> str:
        fields = parse_line(self._line_before(position))
        return fields["kind"] if isinstance(fields, dict) else ""

    def _line_before(self, position: Position) -> bytes:
        path = self.file(position.segment)
        with self._reported():
            if not path.exists():
                return b""
            with path.open("rb") as file:
                return line_before(file, position.offset)

    # --- writing ---

    def _write(self, line: bytes) -> Position:
        segment = (self.segments() or [1])[-1]
        if size_of(self.file(segment)) >= self._segment_bytes:
            segment += 1
        return Position(segment, append_whole(self.file(segment), line))

    # --- reading ---

    def scan(self, start: Position, *, torn: bool = False, kinds: Collection[str] = ()) -> Iterator[Event | Problem]:
        """Events and invalid lines from a position on.

        `start`: between two lines; `torn`: a last line without an end is a problem, and not one that is being written;
        `kinds`: events of other kinds, and invalid lines without their names, may be missing.
        Raises StoreError if a file cannot be read.
        """
        at = start
        while True:
            # Listed before a file is read to its end: a file with a successor is then complete.
            segments = self.segments()
            closed = any(segment > at.segment for segment in segments)
            if at.segment in segments:
                yield from self._segment(at, torn=torn or closed, kinds=kinds)
            if not closed:
                return
            at = Position(min(segment for segment in segments if segment > at.segment), 0)

    def _segment(self, start: Position, *, torn: bool, kinds: Collection[str]) -> Iterator[Event | Problem]:
        """Read one file; if it is replaced, it is being overwritten, and reading continues in its successor."""
        at: Position | None = start
        while at is not None:
            with self._reported(), self.file(start.segment).open("rb") as file:
                begun, at = at, None
                for found in lines(file, begun, torn=torn, kinds=kinds):
                    if isinstance(found, Problem) and os.fstat(file.fileno()).st_nlink == 0:
                        at = found.position
                        break
                    yield found

    def segments(self) -> list[int]:
        """Return the numbers of the files, in order. Raises StoreError if the folder cannot be read."""
        try:
            names = [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _failure(self.folder, error) from error
        return sorted(int(name[:-6]) for name in names if name.endswith(".jsonl") and name[:-6].isdecimal())

    def file(self, segment: int) -> Path:
        """Return the file of a number, existing or not."""
        return self.folder / f"{segment:06}.jsonl"

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _failure(self.folder, error) from error


def _failure(folder: Path, error: OSError) -> StoreError:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StoreError(f"The disk is full: the journal {folder} cannot grow.", hint="Free some space.")
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return StoreError(
            f"The journal {folder} cannot be used: {error.strerror}.",
            hint="Make the folder writable for you, or move cm's data with CM_HOME.",
        )
    return StoreError(f"The journal {folder} cannot be used: {error}", hint="Check the disk and the folder.")


# --- how much of a journal lies behind a place, and a place near its end ---


def bytes_after(journal: Journal, position: Position = START) -> int:
    """Return how many bytes are behind a place. Raises StoreError if the journal cannot be read."""
    sizes = _sizes(journal)
    return sum(size for segment, size in sizes if segment >= position.segment) - (
        position.offset if any(segment == position.segment for segment, _ in sizes) else 0
    )


def near_end(journal: Journal, size: int) -> Position:
    """Return a place between two lines with at most so many bytes after it, or slightly more.

    Raises StoreError if the journal cannot be read.
    """
    left = size
    for segment, there in reversed(_sizes(journal)):
        if there >= left:
            return Position(segment, _line_end(journal, segment, there - left))
        left -= there
    return START


def _line_end(journal: Journal, segment: int, offset: int) -> int:
    try:
        with journal.file(segment).open("rb") as file:
            file.seek(offset)
            while piece := file.readline(MAX_BYTES):
                offset += len(piece)
                if piece.endswith(b"\n"):
                    break
    except FileNotFoundError:
        # It was replaced; reading from there reports that.
        return offset
    return offset


def _sizes(journal: Journal) -> list[tuple[int, int]]:
    """Return the files by number, and how large each is."""
    sizes = []
    for segment in journal.segments():
        try:
            sizes.append((segment, journal.file(segment).stat().st_size))
        except FileNotFoundError:
            continue
    return sizes
