"""Reading a transcript that is a file of JSON lines, record by record, from a place on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from cm_tui.engine.transcripts.lines import Line, opened, read_lines
from cm_tui.engine.transcripts.transcript import Item, Resume, Skipped


class LineReading(ABC):
    """Turns from the records of one file.

    Args:
        resume: where it begins; says at the end where to go on.
    """

    def __init__(self, resume: Resume) -> None:
        self._resume = resume

    def items(self, file: Path) -> Iterator[Item]:
        """Yield turns, and what was not taken.

        Raises:
            OSError: the file has gone, or cannot be read.
        """
        end = self._resume.offset
        with opened(file) as stream:
            for line in read_lines(stream, end):
                self._resume.check()
                if line.problem:
                    yield Skipped(line.problem, line.start, is_broken=True)
                else:
                    yield from self._record(line)
                end = line.end
        yield from self._rest(end)
        self._resume.offset = end

    @abstractmethod
    def _record(self, line: Line) -> Iterator[Item]:
        """Yield what ends with a record."""

    @abstractmethod
    def _rest(self, end: int) -> Iterator[Item]:
        """Yield what is under way at the end, and note in `resume` what has to be known of it."""
