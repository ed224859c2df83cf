"""Prompts typed while Claude Code worked, and delivered to the model later, or never if it was killed."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from cm_tui.engine.memory.transcripts.claude_prompts import prompt_of
from cm_tui.engine.memory.transcripts.lines import Line, as_text
from cm_tui.engine.memory.transcripts.transcript import parse_time
from cm_tui.engine.memory.transcripts.turn import Turn

_MOST = 100


class _Queued(NamedTuple):
    text: str
    line: Line

    def turn(self, folder: str) -> Turn:
        """Return the prompt as a turn."""
        stamp = as_text(self.line.record.get("timestamp")) or str(self.line.start)
        turn = Turn(f"{stamp} queued {sha256(self.text.encode()).hexdigest()[:32]}", folder)
        turn.at(parse_time(stamp))
        turn.ask(self.text)
        return turn


class PromptQueue:
    """The prompts that wait, from the records of the program's queue."""

    def __init__(self) -> None:
        self._waiting: list[_Queued] = []
        self._given: list[_Queued] = []
        """Taken from the queue, but without the record of the delivery so far."""

    def follow(self, line: Line) -> None:
        """Take in a record of the queue."""
        operation, text = line.record.get("operation"), prompt_of(as_text(line.record.get("content")))
        if operation == "enqueue" and len(self._waiting) < _MOST:
            # Messages of the program itself wait in it too: they have no text here.
            self._waiting.append(_Queued(text, line))
        elif operation == "popAll":
            # They are back in the input line.
            self._waiting.clear()
        elif operation in ("dequeue", "remove") and text:
            self.take(text)
        elif operation in ("dequeue", "remove"):
            self._given = [*self._given, *self._waiting[:1]][-_MOST:]
            del self._waiting[:1]

    def take(self, text: str) -> list[str]:
        """Remove the prompts delivered in a text, and return their keys as turns without an answer.

        Several may be delivered at once, and only the text has pasted parts.
        """
        taken = [*self._given, *(one for one in self._waiting if one.text and one.text in text)]
        self._given, self._waiting = [], [one for one in self._waiting if one not in taken]
        return [key for one in taken for key in one.turn("").unanswered_keys]

    def end(self, under_way: Turn) -> None:
        """Add waiting prompts to the current turn: they may be delivered while the agent works."""
        if not under_way.is_over:
            for one in (*self._given, *self._waiting):
                under_way.ask(one.text)
            self._given, self._waiting = [], []

    def turns(self, folder: str) -> Iterator[Turn]:
        """Yield waiting prompts of an agent that has ended, each as a turn without an answer, and remove them.

        `folder`: the agent's working folder.
        """
        waiting = [*self._given, *self._waiting]
        self._given, self._waiting = [], []
        yield from (one.turn(folder) for one in waiting if one.text)
