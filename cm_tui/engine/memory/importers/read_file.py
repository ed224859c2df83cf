"""A transcript's file, kept open from reading to storing the position, to detect its replacement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Self

from cm_tui.engine.memory.importers.state import TranscriptState, digests, stands_in
from cm_tui.engine.memory.transcripts.lines import opened


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

    def goes_on(self, state: TranscriptState) -> bool:
        """Return whether the part read earlier is unchanged. Raises OSError if it cannot be read."""
        return stands_in(self._stream, state)

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
