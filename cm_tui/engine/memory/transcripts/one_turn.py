"""Reading a transcript with consecutive turns, each begun by the record of a prompt."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from cm_tui.engine.memory.transcripts.line_reading import LineReading
from cm_tui.engine.memory.transcripts.lines import Line
from cm_tui.engine.memory.transcripts.transcript import Item, Read, Resume
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn


class OneTurnReading(LineReading):
    """Reads turns from the records of one file; an unanswered prompt is joined with the next one.

    `resume`: the position to start from; updated at the end.
    """

    def __init__(self, facts: SessionFacts, resume: Resume) -> None:
        super().__init__(resume)
        self._facts = facts
        self._folder = facts.folder
        self._turn: Turn | None = None
        self._start = resume.offset
        self._number = resume.turns
        """Turns up to the one under way."""
        self._before = resume.turns
        """Turns before the one under way."""

    def _close(self) -> None:
        """Complete the turn under way, before it is yielded."""

    def _rest(self, end: int) -> Iterator[Item]:
        self._close()
        if self._turn is not None:
            yield Read(self._turn, self._start, end, is_last=True, number=self._before)
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
            yield from self._end(line)
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
            yield from self._end(line)
            turn = self._begin(line, key)
            turn.damage()
        elif turn is not None:
            turn.go_on()
        self._unreadable = ""
        return turn

    def _end(self, line: Line) -> Iterator[Item]:
        """Yield the turn under way, which ends before a record."""
        self._close()
        if self._turn is not None:
            yield Read(self._turn, self._start, line.start, number=self._before)

    def _begin(self, line: Line, key: str) -> Turn:
        self._before, self._start = self._number, line.start
        self._number += 1
        self._turn = turn = Turn(key, self._folder)
        return turn

    def _withdraw(self) -> None:
        """Record that the user withdrew the last prompts; work done for them stays recorded."""
        if self._turn is not None and self._turn.is_empty:
            self._turn.is_asked = False
