"""Changes that were made in this run of the application, in whatever mode, for one undo and one redo."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

MOST = 50
"""Changes that are kept."""
Finish = Callable[[str], None]
"""Called once a change is undone or redone, with words for the user; empty: the label of the change."""
Run = Callable[[Any, Finish], None]
"""Undoes or redoes a change; gets the mode on screen. What fails is reported there, and `Finish` is not called."""


@dataclass(eq=False)
class UndoableChange:
    """A change that `u` undoes and `U` redoes."""

    label: str
    """What was done: `tagged bug: 1 episode`."""
    mode: str
    """The mode in which it was made."""
    undo: Run
    redo: Run
    about: frozenset[str] = frozenset()
    """What it changed. A change builds on an earlier one that changed some of the same."""
    time: float = field(default_factory=time.time)


def own_change(
    label: str, mode: str, about: frozenset[str], undo: Callable[[], object], redo: Callable[[], object]
) -> UndoableChange:
    """Return a change of the application alone, which is undone and redone at once."""

    def run(do: Callable[[], object], _: object, finish: Finish) -> None:
        do()
        finish("")

    return UndoableChange(label, mode, partial(run, undo), partial(run, redo), about)


class ChangeHistory:
    """Changes in the order in which they were made, and those that were undone and can be redone."""

    def __init__(self) -> None:
        self._done: list[UndoableChange] = []
        self._undone: list[UndoableChange] = []

    @property
    def newest_first(self) -> tuple[UndoableChange, ...]:
        """What can be undone, the newest first."""
        return tuple(reversed(self._done))

    @property
    def last(self) -> UndoableChange | None:
        """What `u` undoes."""
        return self._done[-1] if self._done else None

    @property
    def next_redo(self) -> UndoableChange | None:
        """What `U` redoes."""
        return self._undone[-1] if self._undone else None

    def add(self, change: UndoableChange) -> None:
        """Note a change; what was undone before it can no longer be redone."""
        self._done = [*self._done, change][-MOST:]
        self._undone.clear()

    def builds_on(self, change: UndoableChange) -> UndoableChange | None:
        """Return the newest later change of the same things, which has to be undone first; None: there is no such."""
        later = self._done[self._done.index(change) + 1 :] if change in self._done else []
        return next((one for one in reversed(later) if one.about & change.about), None)

    def undone(self, change: UndoableChange) -> None:
        """Note that a change was undone."""
        if change in self._done:
            self._done.remove(change)
            self._undone.append(change)

    def undone_earlier(self, change: UndoableChange) -> None:
        """Note a change that was undone and was made before this run, or by another client: `U` redoes it next."""
        self._undone.append(change)

    def redone(self, change: UndoableChange) -> None:
        """Note that a change was redone."""
        if change in self._undone:
            self._undone.remove(change)
            self._done.append(change)

    def drop(self, change: UndoableChange) -> None:
        """Forget a change: it was not made, or was undone elsewhere."""
        self._done = [one for one in self._done if one is not change]
        self._undone = [one for one in self._undone if one is not change]

    def clear(self) -> None:
        """Forget all changes."""
        self._done.clear()
        self._undone.clear()
