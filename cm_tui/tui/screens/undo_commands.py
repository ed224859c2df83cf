"""The commands of undo and redo, and the list of what can be undone: the same in every mode."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from textual.app import App
from textual.content import Content

from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.screens.question import ask, confirm
from cm_tui.tui.state.change_history import UndoableChange
from cm_tui.tui.widgets.text import ago, elide_end, fit, one_line

if TYPE_CHECKING:
    from cm_tui.tui.screens.app_services import AppServices

UNDO = "undo"
"""Name of a change that undoes or redoes one: while one is under way, no other is asked for."""
_MODE, _WHEN = 12, 16
"""Cells of the list's columns."""
_LONGEST = 200


class UndoingMode(Protocol):
    """What undo uses of the mode on screen."""

    MODE: ClassVar[str]
    UNDOES_EARLIER: ClassVar[bool]

    @property
    def cm(self) -> AppServices:
        """The application."""

    @property
    def app(self) -> App[Any]:
        """The same, which shows dialogs."""

    def is_doing(self, once: str) -> bool:
        """Return whether a change of this name is in progress, and notify the user if so."""

    def undo_here(self) -> bool:
        """Undo what the cursor is on, where the mode has such a thing."""

    def undo_earlier(self) -> None:
        """Undo what was changed before this run."""


def undo_last(screen: UndoingMode) -> None:
    """Undo the last change, in whatever mode it was made; one of another mode after a confirmation."""
    if screen.is_doing(UNDO) or screen.undo_here():
        return
    change = screen.cm.history.last
    if change is None:
        screen.undo_earlier()
    else:
        _confirmed(screen, change, "Undo", partial(undo_change, screen, change))


def redo_last(screen: UndoingMode) -> None:
    """Redo the change that was undone last; one of another mode after a confirmation."""
    change = screen.cm.history.next_redo
    if change is None or screen.is_doing(UNDO):
        return

    def redo() -> None:
        with naming(screen, "Redo"):
            change.redo(screen, done)

    def done(words: str) -> None:
        screen.cm.history.redone(change)
        screen.cm.report(words or f"Redone: {change.label}")

    _confirmed(screen, change, "Redo", redo)


def undo_change(screen: UndoingMode, change: UndoableChange) -> None:
    """Undo a change, and say in the bottom line what that was."""

    def done(words: str) -> None:
        screen.cm.history.undone(change)
        screen.cm.report(words or f"Undone: {change.label}")

    with naming(screen, "Undo"):
        change.undo(screen, done)


def list_changes(screen: UndoingMode) -> None:
    """List what can be undone, the newest first, and undo what is chosen there."""
    history, titles = screen.cm.history, screen.cm.titles

    def draw(row: UndoableChange, width: int) -> Content:
        room = max(8, width - _MODE - _WHEN - 3)
        return Content.assemble(
            " ", (fit(one_line(row.label), room), "$foreground"), " ",
            (fit(titles.get(row.mode, row.mode), _MODE), "$secondary"), (fit(ago(time.time() - row.time), _WHEN), "$muted"),
        )  # fmt: skip

    def refused(row: UndoableChange) -> str:
        later = history.builds_on(row)
        return f"A later change builds on it; undo that first: {one_line(later.label)}" if later is not None else ""

    def chosen(change: UndoableChange) -> None:
        if not screen.is_doing(UNDO):
            undo_change(screen, change)

    hint = " enter undoes this one · esc closes "
    ask(screen.app, ListDialog(" Undo ", hint, history.newest_first, draw, chosen, close="q", refused=refused))


def nothing_to_undo(screen: UndoingMode) -> str | None:
    """Say why there is nothing to undo."""
    if screen.cm.history.last is not None:
        return None
    if screen.UNDOES_EARLIER:
        return None if screen.cm.project.engine == "open" else "the project is not open"
    return "nothing was changed yet"


def nothing_to_redo(screen: UndoingMode) -> str | None:
    """Say why there is nothing to redo."""
    return None if screen.cm.history.next_redo is not None else "nothing to redo"


def nothing_to_list(screen: UndoingMode) -> str | None:
    """Say why there is no list."""
    return None if screen.cm.history.last is not None else "nothing was changed yet"


def _confirmed(screen: UndoingMode, change: UndoableChange, word: str, go_on: Callable[[], None]) -> None:
    """Go on; where the change was made in another mode, only after a confirmation: it cannot be seen here."""
    if change.mode == screen.MODE:
        go_on()
        return
    where, when = screen.cm.titles.get(change.mode, change.mode), ago(time.time() - change.time)
    words = f"{word} what was done in {where}, {when}?\n\n{elide_end(one_line(change.label), _LONGEST)}"
    confirm(screen.app, words, word, go_on)


@contextmanager
def naming(screen: UndoingMode, word: str) -> Iterator[None]:
    """Have the bottom line name what goes on, also after a dialog, in which no command runs."""
    before, screen.cm.running_command = screen.cm.running_command, word
    try:
        yield
    finally:
        screen.cm.running_command = before
