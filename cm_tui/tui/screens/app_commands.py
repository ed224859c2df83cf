"""The commands that every mode has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol

from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.mode_list import MODES, PACK, TITLES, keys_of_mode
from cm_tui.tui.screens.undo_commands import (
    UndoingMode,
    list_changes,
    nothing_to_list,
    nothing_to_redo,
    nothing_to_undo,
    redo_last,
    undo_last,
)
from cm_tui.tui.widgets.split import Split


class AnyMode(UndoingMode, Protocol):
    """What these commands use of the mode on screen."""

    @property
    def split(self) -> Split | None:
        """The two parts of the mode, where it has two."""


# What a mode offers under a key of its own is the same function there, so that the palette lists it once.


@cache
def show_mode(name: str) -> Callable[[AnyMode], None]:
    """Return what shows a mode; the same function whenever it is the same mode.

    Raises:
        KeyError: there is no such mode.
    """
    if name not in TITLES:
        raise KeyError(name)

    def show(screen: AnyMode) -> None:
        screen.cm.go(name)

    return show


def start_index(screen: AnyMode) -> None:
    """Bring the index up to the working tree."""
    screen.cm.lifecycle.start_index()


def stop_index(screen: AnyMode) -> None:
    """Stop the index run, even one of another client."""
    screen.cm.stop_index()
    screen.cm.tell("Stopping the index run. Finished work is kept; the next run continues from there.")


def widen(screen: AnyMode) -> None:
    """Give the first part more room."""
    if screen.split:
        screen.split.widen(1)


def narrow(screen: AnyMode) -> None:
    """Give the first part less room."""
    if screen.split:
        screen.split.widen(-1)


def cannot_index(screen: AnyMode) -> str | None:
    """Say why no index run can be started."""
    if screen.cm.project.engine != "open":
        return "the project is not open"
    return "an index run is on its way" if screen.cm.tasks.indexing else None


def no_index_run(screen: AnyMode) -> str | None:
    """Return why no index run can be stopped."""
    return None if screen.cm.tasks.indexing or screen.cm.project.job else "no index run is in progress"


def _cannot_index_again(screen: AnyMode) -> str | None:
    reason = cannot_index(screen)
    return f"{reason} already" if reason and screen.cm.tasks.indexing else reason


def _no_split(screen: AnyMode) -> str | None:
    return None if screen.split else "there is no border to move here"


def _is_now(screen: AnyMode) -> str | None:
    return None if screen.cm.revision.moment else "this is now"


APP_COMMANDS: tuple[Command[AnyMode], ...] = (
    Command("app.help", "question_mark,f12", "Help", "Every key of this mode", lambda screen: screen.cm.show_help()),
    *(
        Command(f"app.{mode.name}", keys_of_mode(number), mode.title, mode.help, show_mode(mode.name), bar=False)
        for number, mode in enumerate(MODES, start=1)
    ),
    Command("app.pack", "P", PACK.title, PACK.help, show_mode(PACK.name), shown_as="P", bar=False,
            shown=lambda screen: screen.cm.current_mode == "context"),
    Command("app.undo", "u", "Undo", "Undo the last change, of any mode", undo_last, bar=False,
            shown=lambda screen: screen.cm.history.last is not None, blocked=nothing_to_undo),
    Command("app.redo", "U", "Redo", "Redo the change that was undone last", redo_last, bar=False, shown_as="U",
            shown=lambda screen: screen.cm.history.next_redo is not None, blocked=nothing_to_redo),
    Command("app.undo-list", "alt+u", "Undo…", "Choose from a list what to undo", list_changes,
            bar=False, blocked=nothing_to_list),
    Command("app.now", "0", "Back to now", "Leave the past revision that is shown",
            lambda screen: screen.cm.go_to_now(), bar=False, blocked=_is_now),
    Command("app.palette", "ctrl+p", "Commands", "Find any command by name",
            lambda screen: screen.cm.show_palette(), palette=False),
    Command("app.index", "ctrl+r", "Update index", "Index what changed since the last run", start_index, bar=False,
            priority=True, blocked=_cannot_index_again),
    Command("app.stop-index", "ctrl+g", "Stop indexing", "Stop the index run; what is done is kept", stop_index,
            bar=False, priority=True, blocked=no_index_run),
    Command("app.wider", "greater_than_sign", "Wider", "More room for the panel on the left", widen, bar=False,
            blocked=_no_split),
    Command("app.narrower", "less_than_sign", "Narrower", "Less room for the panel on the left", narrow, bar=False,
            blocked=_no_split),
    Command("app.theme", "ctrl+t", "Theme", "Choose a theme", lambda screen: screen.cm.choose_theme(), bar=False),
    Command("app.trust", "T", "Trust", "What of this repository is held back",
            lambda screen: screen.cm.show_trust(), shown_as="T", bar=False),
    Command("app.pause", "Z", "Pause recording", "Stop recording what agents do, or go on",
            lambda screen: screen.cm.pause_recording(), shown_as="Z", bar=False),
    Command("app.projects", "ctrl+e", "Projects", "Open another project",
            lambda screen: screen.cm.choose_project(), bar=False, priority=True),
    Command("app.quit", "q,ctrl+q", "Quit", "Leave; everything is found again next time",
            lambda screen: screen.cm.leave()),
)  # fmt: skip
