"""Turns that a forked session of Codex repeats from its origin."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn

_BURST_SECONDS = 10.0
"""A fork writes repeated turns at once at its beginning; later prompts are its own."""
_ANSWER = 500
"""Characters of an answer by which a turn is known again."""
_OWN = "own"
"""Mark of a transcript: its own turns have begun."""


class ForkedFrom(NamedTuple):
    """The session that another one was forked from."""

    facts: SessionFacts
    turns: Callable[[], Mapping[str, tuple[str, SessionFacts]]]
    """Returns its turns by their keys: how each was answered, and the session that it was held in."""


Find = Callable[[str], ForkedFrom | None]
"""Returns a session by its id; None where its transcript is not on this machine."""


def answer_of(turn: Turn) -> str:
    """Return what identifies a turn in addition to its key."""
    return "\n".join(turn.answer)[:_ANSWER]


class Repeated:
    """Finds the repeated turns at the beginning of a transcript.

    `facts`: about the transcript. `marks`: those of the transcript; one is added at its first own turn. `find`: finds
    the origin of the fork.
    """

    def __init__(self, facts: SessionFacts, marks: dict[str, Any], find: Find) -> None:
        self._facts = facts
        self._marks = marks
        self._find = find
        self._other: SessionFacts | None = None
        """The other session whose records follow, according to them."""
        self._turns: Mapping[str, tuple[str, SessionFacts]] | None = None
        self._is_over = marks.get(_OWN) is True or not (facts.continues or facts.parent)

    def enter(self, facts: SessionFacts | None) -> None:
        """Read the first record of a session; one of another session announces its records."""
        if facts is not None and facts.session != self._facts.session and facts.folder and not self._is_over:
            self._load()
            self._other = facts

    def mark(self, turn: Turn) -> None:
        """Note in a turn the session that it was held in, where that is another one."""
        if self._is_over:
            return
        self._load()
        turn.held = None if self._is_over else self._held(turn)
        if turn.held is None:
            self._is_over = self._marks[_OWN] = True
            if self._other is not None and turn.folder == self._other.folder:
                turn.folder = self._facts.folder

    def _load(self) -> None:
        if self._turns is not None:
            return
        self._turns = {}
        found = self._find(self._facts.continues or self._facts.parent)
        if found is None:
            return
        # Of a session in the same folder turns are known again by their names.
        self._is_over = found.facts.folder == self._facts.folder and not (found.facts.continues or found.facts.parent)
        if not self._is_over:
            self._turns = found.turns()

    def _held(self, turn: Turn) -> SessionFacts | None:
        if self._turns:
            answer, facts = self._turns.get(turn.key, ("", None))
            return facts if facts is not None and answer.startswith(answer_of(turn)) else None
        if self._other is None or _is_in(turn.folder, self._facts.folder):
            return None
        began, since = turn.began, self._facts.began
        is_later = began is not None and since is not None and began > since + _BURST_SECONDS
        return None if is_later else self._other


def _is_in(folder: str, outer: str) -> bool:
    folder, outer = os.path.normpath(folder), os.path.normpath(outer)
    return folder == outer or folder.startswith(outer + os.sep)
