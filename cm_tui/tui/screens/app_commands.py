"""The commands that every mode has."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

from textual.content import Content

from cm_tui.model.dates import age, short_age
from cm_tui.tui.screens.commands import Command, unless
from cm_tui.tui.screens.mode_app import ModePage
from cm_tui.tui.screens.mode_list import MODES, PACK, TITLES, keys_of_mode
from cm_tui.tui.screens.question import ListDialog, ask, confirm
from cm_tui.tui.state.change_history import UndoableChange
from cm_tui.tui.widgets.text import elide_end, fit, one_line

UNDO = "undo"
"""Name of a change that undoes or redoes one: while one is under way, no other is asked for."""
_MODE, _WHEN = 9, 6
"""Cells of the list's columns."""
_LONGEST = 200


def undo_last(screen: ModePage) -> None:
    """Undo the last change, in whatever mode it was made; one of another mode after a confirmation."""
    if screen.is_doing(UNDO) or screen.undo_here():
        return
    change = screen.cm.history.last
    if change is None:
        screen.undo_earlier()
    else:
        _confirmed(screen, change, "Undo", partial(undo_change, screen, change))


def redo_last(screen: ModePage) -> None:
    """Redo the change that was undone last; one of another mode after a confirmation."""
    change = screen.cm.history.next_redo
    if change is not None and not screen.is_doing(UNDO):
        _confirmed(screen, change, "Redo", partial(undo_change, screen, change, redo=True))


def undo_change(screen: ModePage, change: UndoableChange, *, redo: bool = False) -> None:
    """Undo a change, or redo it, and say in the bottom line what that was."""
    history, word = screen.cm.history, "Redo" if redo else "Undo"

    def done(words: str) -> None:
        (history.redone if redo else history.undone)(change)
        screen.cm.report(words or f"{word[:-1]}one: {change.label}")

    with naming(screen, word):
        (change.redo if redo else change.undo)(screen, done)


def list_changes(screen: ModePage) -> None:
    """List what can be undone, the newest first, and undo what is chosen there."""
    history, titles = screen.cm.history, screen.cm.titles

    def draw(row: UndoableChange, width: int) -> Content:
        room = max(8, width - _MODE - _WHEN - 3)
        return Content.assemble(
            " ", (fit(one_line(row.label), room), "$foreground"), " ",
            (fit(titles.get(row.mode, row.mode), _MODE), "$secondary"), (fit(short_age(time.time() - row.time), _WHEN), "$muted"),
        )  # fmt: skip

    def refused(row: UndoableChange) -> str:
        if row not in history.newest_first:
            return "It was undone meanwhile"
        later = history.builds_on(row)
        return f"A later change depends on it; undo that first: {one_line(later.label)}" if later is not None else ""

    def chosen(change: UndoableChange) -> None:
        if not screen.is_doing(UNDO):
            undo_change(screen, change)

    hint = " enter undoes this one · esc closes "
    ask(screen.app, ListDialog(" Undo ", hint, history.newest_first, draw, chosen, close="q", refused=refused))


def nothing_to_undo(screen: ModePage) -> str | None:
    """Return why there is nothing to undo."""
    if screen.cm.history.last is not None:
        return None
    if screen.UNDOES_EARLIER:
        return None if screen.cm.project.engine == "open" else "the project is not open"
    return "no changes yet"


nothing_to_redo: Callable[[ModePage], str | None] = unless(
    lambda screen: screen.cm.history.next_redo, "nothing to redo"
)


def _confirmed(screen: ModePage, change: UndoableChange, word: str, go_on: Callable[[], None]) -> None:
    """Go on; where the change was made in another mode, only after a confirmation: it cannot be seen here."""
    if change.mode == screen.MODE:
        go_on()
        return
    where, when = screen.cm.titles.get(change.mode, change.mode), age(time.time() - change.time)
    words = f"{word} the change made in {where}, {when}?\n\n{elide_end(one_line(change.label), _LONGEST)}"
    confirm(screen.app, words, word, go_on)


@contextmanager
def naming(screen: ModePage, word: str) -> Iterator[None]:
    """Have the bottom line name what is being done, also after a dialog, in which no command runs."""
    before, screen.cm.running_command = screen.cm.running_command, word
    try:
        yield
    finally:
        screen.cm.running_command = before


# What a mode offers under a key of its own is the same function there, so that the palette lists it once.


@cache
def show_mode(name: str) -> Callable[[ModePage], None]:
    """Return what shows a mode; the same function whenever it is the same mode.

    Raises:
        KeyError: there is no such mode.
    """
    if name not in TITLES:
        raise KeyError(name)

    def show(screen: ModePage) -> None:
        screen.cm.go(name)

    return show


def start_index(screen: ModePage) -> None:
    """Bring the index up to the working tree."""
    screen.cm.lifecycle.start_index(requested=True)


def stop_index(screen: ModePage) -> None:
    """Stop the index run, even one of another client."""
    screen.cm.stop_index()
    screen.cm.tell("Stopping the index run. Finished work is kept; the next run continues from there.")


def widen(screen: ModePage, by: int) -> None:
    """Give the first part more room, or less."""
    if screen.split:
        screen.split.widen(by)


Reason = Callable[[ModePage], str | None]
not_open: Reason = unless(lambda screen: screen.cm.project.engine == "open", "the project is not open")
no_index_run: Reason = unless(
    lambda screen: screen.cm.tasks.indexing or screen.cm.project.job, "no index run is in progress"
)
_unchanged: Reason = unless(lambda screen: screen.cm.history.last, "no changes yet")
_no_split: Reason = unless(lambda screen: screen.split, "no border to move here")
_is_now: Reason = unless(lambda screen: screen.cm.revision.moment, "this is now")


def not_searchable(screen: ModePage) -> str | None:
    """Return why nothing can be searched."""
    return screen.cm.project.why_not_searchable


def cannot_index(screen: ModePage) -> str | None:
    """Return why no index run can be started."""
    return not_open(screen) or ("an index run is in progress" if screen.cm.tasks.indexing else None)


def _cannot_index_again(screen: ModePage) -> str | None:
    reason = cannot_index(screen)
    return f"{reason} already" if reason and screen.cm.tasks.indexing else reason


APP_COMMANDS: tuple[Command[ModePage], ...] = (
    Command("app.help", "question_mark,f12", "Help", "List all keys of this mode", lambda screen: screen.show_help()),
    *(
        Command(f"app.{mode.name}", keys_of_mode(number), mode.title, mode.help, show_mode(mode.name), bar=False)
        for number, mode in enumerate(MODES, start=1)
    ),
    Command("app.pack", "P", PACK.title, PACK.help, show_mode(PACK.name), bar=False,
            shown=lambda screen: screen.cm.current_mode == "context"),
    Command("app.undo", "u", "Undo", "Undo the last change, of any mode", undo_last, bar=False,
            shown=lambda screen: screen.cm.history.last is not None, blocked=nothing_to_undo),
    Command("app.redo", "U", "Redo", "Redo the change that was undone last", redo_last, bar=False,
            shown=lambda screen: screen.cm.history.next_redo is not None, blocked=nothing_to_redo),
    Command("app.undo-list", "alt+u", "Undo…", "Choose from a list what to undo", list_changes, bar=False,
            blocked=_unchanged),
    Command("app.now", "0", "Back to now", "Leave the past revision shown",
            lambda screen: screen.cm.go_to_now(), bar=False, blocked=_is_now),
    Command("app.palette", "ctrl+p", "Commands", "Find any command by name",
            lambda screen: screen.app.action_command_palette(), palette=False),
    Command("app.index", "ctrl+r", "Update index", "Index changes since the last run", start_index, bar=False,
            priority=True, blocked=_cannot_index_again),
    Command("app.stop-index", "ctrl+g", "Stop indexing", "Stop the index run; completed work is kept", stop_index,
            bar=False, priority=True, blocked=no_index_run),
    Command("app.wider", "greater_than_sign", "Wider", "More room for the panel on the left", partial(widen, by=1),
            bar=False, blocked=_no_split),
    Command("app.narrower", "less_than_sign", "Narrower", "Less room for the panel on the left", partial(widen, by=-1),
            bar=False, blocked=_no_split),
    Command("app.theme", "ctrl+t", "Theme", "Choose a theme: dark, light or another", lambda screen: screen.app.search_themes(), bar=False),
    Command("app.trust", "T", "Trust", "Review what needs your trust", lambda screen: screen.cm.show_trust(),
            bar=False),
    Command("app.pause", "Z", "Pause recording", "Pause or resume recording of agents",
            lambda screen: screen.cm.pause_recording(), bar=False),
    Command("app.projects", "ctrl+e", "Projects", "Open another project", lambda screen: screen.cm.choose_project(),
            bar=False, priority=True),
    Command("app.quit", "q,ctrl+q", "Quit", "Quit; the state is restored next time",
            lambda screen: screen.cm.leave()),
)  # fmt: skip
