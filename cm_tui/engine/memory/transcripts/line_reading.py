"""Reading a transcript of JSON lines, record by record, from a position on."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from cm_tui.engine.memory.transcripts.lines import Line, as_list, is_recoded, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Resume, Skipped
from cm_tui.engine.memory.transcripts.turn import Turn

_LINES = 10_000
"""Records that are known again when a crash wrote them twice."""
_LINES_KEPT = 20
"""Of these so many are known again the next time."""
_UNREADABLE = 100_000
_BLANK = b" \t\r\n\0"
_TOLD = re.compile(rb"\"(?:type|timestamp)\"\0*: *(?:\"[^\"]+\"|[^\" ][^\"]*\")|\0")
"""Identifies the beginning of a record; not searched in UTF-16."""
_STEP = re.compile(
    r'"type": *"(?:assistant(?:\.\w+)?|tool\.\w+|gemini|agent_\w+|reasoning|\w+_call(?:_output)?|token_count)"|"role": *"assistant"'
)
"""An agent's actions, by its own record names."""
_HOLE = "\ufffd"
_LETTER = re.compile(rb"[A-Za-z]")


def _is_step(text: str, turn: Turn) -> bool:
    return not is_spliced(text) and bool(_STEP.search(text) or turn.waits_for_part(text))


def is_spliced(text: str) -> bool:
    """Return whether damaged text may have the end of another record than its beginning."""
    return text.endswith("}") or _HOLE in text


class LineReading(ABC):
    """Reads turns from the records of one file. `resume`: the position to start from; updated at the end."""

    def __init__(self, resume: Resume) -> None:
        self._resume = resume
        self._unreadable = ""
        """What could not be read since the last record that is of a turn."""
        self._lines: dict[str, int] = {
            kept[0]: kept[1]
            for kept in as_list(resume.marks.get("lines"))
            if isinstance(kept, list) and [type(value) for value in kept] == [str, int]
        }
        """Places of records by their digests."""

    def items(self, file: Path) -> Iterator[Item]:
        """Yield turns, and skipped records. Raises OSError if the file was removed, or cannot be read."""
        recoded = is_recoded(file)
        for item in self._items(file):
            # Of such a file no place can be read from.
            yield item._replace(start=0, number=0) if recoded and isinstance(item, Read) else item
        if recoded:
            self._resume.offset = file.stat().st_size

    def _items(self, file: Path) -> Iterator[Item]:
        end, torn = self._resume.offset, b""
        with opened_text(file) as stream:
            for line in read_lines(stream, end):
                self._resume.check()
                if line.problem:
                    yield Skipped(line.problem, line.start, is_broken=True)
                    self._miss(torn)
                    torn = line.data
                else:
                    if not (_TOLD.search(torn) and line.data.strip(_BLANK).startswith(torn.strip(_BLANK))):
                        self._miss(torn)
                    # Otherwise the same record was written again, whole.
                    torn = b""
                    if not self._is_repeated(line):
                        yield from self._record(line)
                end = line.end
        self._miss(torn)
        yield from self._rest(end)
        self._resume.offset = end
        self._resume.marks["lines"] = [[digest, at] for digest, at in list(self._lines.items())[-_LINES_KEPT:]]

    def _miss(self, torn: bytes) -> None:
        """Note that a part of a line, which may have been a record, could not be read."""
        if _LETTER.search(torn):
            text = torn.decode("utf-8", "replace").replace("\n", " ")
            text = text.replace("\0\0", _HOLE).replace("\0", "").strip()
            self._unreadable = f"{self._unreadable}\n{text}"[-_UNREADABLE:]
            self._damage()

    def _hides_prompt(self, turn: Turn) -> bool:
        """Return whether unreadable text may contain the prompt that the agent answers now.

        The beginning of an agent's record contains none. A text with the end of a record may be the beginning of one
        and the end of another.
        """
        return any(not _is_step(part, turn) for part in self._unreadable.split("\n") if part)

    def _is_repeated(self, line: Line) -> bool:
        """Return whether a record is a repetition.

        One with an id may be anywhere after its copy. One with only a time directly follows it: a fork gives all
        repeated records the same time, and a prompt may be repeated.
        """
        has_id = isinstance(line.record.get("uuid"), str)
        if not has_id and "timestamp" not in line.record:
            self._lines.pop("", None)
            self._lines[""] = line.start
            return False
        digest = sha256(line.data.strip(_BLANK)).hexdigest()[:16]
        is_known = self._lines.get(digest, line.start) < line.start
        if is_known and (has_id or next(reversed(self._lines)) == digest):
            return True
        self._lines.pop(digest, None)
        self._lines[digest] = line.start
        if len(self._lines) > _LINES:
            self._lines.pop(next(iter(self._lines)))
        return False

    @abstractmethod
    def _damage(self) -> None:
        """Note that a part of the turn under way, unless that is over, could not be read."""

    @abstractmethod
    def _record(self, line: Line) -> Iterator[Item]:
        """Yield what ends with a record."""

    @abstractmethod
    def _rest(self, end: int) -> Iterator[Item]:
        """Yield the unfinished turns at the end, and store their state in `resume`."""
