"""Reading a transcript of JSON lines, record by record, from a position on."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from cm_tui.engine.memory.transcripts.lines import Line, as_list, opened_text, read_lines
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Resume, Skipped
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

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


def is_spliced(text: str) -> bool:
    """Return whether damaged text may have the end of another record than its beginning."""
    return text.endswith("}") or _HOLE in text


class LineReading(ABC):
    """Reads turns from the records of one file. `resume`: the position to start from; updated at the end."""

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        self._facts = facts
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
        yield from self._rest()
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
        parts = filter(None, self._unreadable.split("\n"))
        return any(is_spliced(part) or not (_STEP.search(part) or turn.waits_for_part(part)) for part in parts)

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
    def _rest(self) -> Iterator[Item]:
        """Yield the unfinished turns at the end, and store their state in `resume`."""


class OneTurnReading(LineReading):
    """Reads turns from the records of one file; an unanswered prompt is joined with the next one.

    `resume`: the position to start from; updated at the end.
    """

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        super().__init__(facts, resume)
        self._folder = facts.folder
        self._turn: Turn | None = None
        self._start = resume.offset
        self._number = resume.turns
        """Turns up to the one under way."""
        self._before = resume.turns
        """Turns before the one under way."""
        self._thought = ""

    def _think(self, turn: Turn, text: str) -> None:
        """Add a thought, which may be in two records, one after the other."""
        if text != self._thought:
            turn.think(text)
        self._thought = text

    def _close(self) -> None:
        """Complete the turn under way, before it is yielded."""

    def _rest(self) -> Iterator[Item]:
        self._close()
        if self._turn is not None:
            yield Read(self._turn, self._start, is_last=True, number=self._before)
        self._resume.turns = self._number

    def _damage(self) -> None:
        if self._turn is not None and not self._turn.is_over:
            self._turn.damage()

    def _ask(self, text: str, line: Line, at: float | None, key: str, *, for_agent: bool = True) -> Iterator[Item]:
        """Take a prompt, and yield the turn that it ends.

        `text`: the prompt; nothing happens where it is empty. `at`: when it was written. `key`: names the turn that it
        begins. `for_agent`: False for a command that the agent's program runs itself.
        """
        if not text.strip():
            return
        turn = self._turn
        if turn is None or not turn.is_empty:
            yield from self._end()
            turn = self._begin(line, key)
        turn.at(at)
        turn.ask(text, for_agent=for_agent)
        self._unreadable = ""

    def _step(self, line: Line, key: str) -> Generator[Item, None, Turn | None]:
        """Return the turn of an agent's action; a new one if its prompt is unreadable.

        `line`: the record of the action; `key`: of a turn that begins with this record.
        """
        turn, damaged = self._turn, self._unreadable
        if damaged and (turn is None or self._hides_prompt(turn)):
            yield from self._end()
            turn = self._begin(line, key)
            turn.damage()
        elif turn is not None:
            turn.continue_turn()
        self._unreadable = ""
        return turn

    def _end(self) -> Iterator[Item]:
        """Yield the turn under way, which has ended."""
        self._close()
        if self._turn is not None:
            yield Read(self._turn, self._start, number=self._before)

    def _begin(self, line: Line, key: str) -> Turn:
        self._before, self._start = self._number, line.start
        self._number += 1
        self._turn = turn = Turn(key, self._folder)
        return turn

    def _withdraw(self) -> None:
        """Record that the user withdrew the last prompts; work done for them stays recorded."""
        if self._turn is not None and self._turn.is_empty:
            self._turn.is_asked = False


# --- sorting records after their parents: one that precedes its parent waits for it, up to a limit ---

_T = TypeVar("_T")
_MOST = 50
"""Records that wait."""
_MOST_BYTES = 5_000_000
_KNOWN = 50_000
"""Ids that are known: of more the first ones are forgotten."""


class _Waiting(NamedTuple, Generic[_T]):
    item: _T
    id: str
    parent: str
    size: int


class ParentsFirst(Generic[_T]):
    """Moves records after their parents; without a parent, they stay in order."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._waiting: list[_Waiting[_T]] = []

    def add(self, item: _T, id_: str, parent: str, size: int = 0) -> Iterator[_T]:
        """Yield the records that are due with the next one.

        `id_`: its id; empty: none. `parent`: the id of the record that it follows; empty: none. `size`: bytes that it
        takes while it waits.
        """
        new = _Waiting(item, id_, parent, size)
        if parent and parent not in self._ids:
            self._waiting.append(new)
            if len(self._waiting) > _MOST or sum(one.size for one in self._waiting) > _MOST_BYTES:
                yield from self._take(self._first())
            return
        if not parent:
            # Its parent is unknown: earlier records that do not wait for it come first.
            while (other := next((one for one in self._waiting if self._root_of(one) != id_), None)) is not None:
                self._waiting.remove(other)
                yield from self._take(other)
        yield from self._take(new)

    def rest(self) -> Iterator[_T]:
        """Yield the records that still wait."""
        while self._waiting:
            yield from self._take(self._first())

    def _first(self) -> _Waiting[_T]:
        """Remove and return the first waiting record that does not wait for another waiting one."""
        ids = {one.id for one in self._waiting}
        first = next((one for one in self._waiting if one.parent not in ids), self._waiting[0])
        self._waiting.remove(first)
        return first

    def _take(self, first: _Waiting[_T]) -> Iterator[_T]:
        """Yield a record, and those waiting for it."""
        due = [first]
        while due:
            one = due.pop(0)
            yield one.item
            if not one.id:
                continue
            self._ids[one.id] = None
            if len(self._ids) > _KNOWN:
                self._ids.pop(next(iter(self._ids)))
            due += [other for other in self._waiting if other.parent == one.id]
            self._waiting = [other for other in self._waiting if other.parent != one.id]

    def _root_of(self, one: _Waiting[_T]) -> str:
        """Return the id of the record that is missing before a waiting one."""
        parents = {other.id: other.parent for other in self._waiting if other.id}
        at = one.parent
        for _ in self._waiting:
            if at not in parents:
                break
            at = parents[at]
        return at
