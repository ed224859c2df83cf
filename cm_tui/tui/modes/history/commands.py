"""The commands of the history mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.modes.history.screen import HistoryScreen


def _no_line(screen: HistoryScreen) -> str | None:
    return screen.why_no_mainline


def _no_moment(screen: HistoryScreen) -> str | None:
    return screen.why_no_mainline or (None if screen.point else "no commit is under the cursor")


def _no_symbol(screen: HistoryScreen) -> str | None:
    row = screen.row
    return None if row and row.key and row.key.qualname else "no symbol is under the cursor"


def _nothing_to_read(screen: HistoryScreen) -> str | None:
    if reason := screen.why_no_mainline:
        return reason
    if screen.cm.tasks.reading_history:
        return "history is being read"
    history = screen.cm.project.history
    return "all of it is known" if history and history.complete else None


def _can_read(screen: HistoryScreen) -> bool:
    return _nothing_to_read(screen) is None


def _not_reading(screen: HistoryScreen) -> str | None:
    return None if screen.cm.tasks.reading_history else "history is not being read"


def _is_reading(screen: HistoryScreen) -> bool:
    return screen.cm.tasks.reading_history


def _has_drift(screen: HistoryScreen) -> bool:
    return screen.loader.drifted


def _cannot_index(screen: HistoryScreen) -> str | None:
    if screen.cm.project.engine != "open":
        return "the project is not open"
    return "an index run is on its way" if screen.cm.tasks.indexing else None


def _cannot_ask(screen: HistoryScreen) -> str | None:
    return screen.cm.project.why_not_searchable


def _cannot_drop(screen: HistoryScreen) -> str | None:
    if reason := screen.why_no_mainline:
        return reason
    return "history is being read: x stops that" if screen.cm.tasks.reading_history else None


HISTORY_COMMANDS: tuple[Command, ...] = (
    Command("history.mend", "i", "Mend drift", "Index what changed, which mends what drifted", "start_index", bar=False,
            blocked=_cannot_index, shown=_has_drift),
    Command("history.stop", "x", "Stop", "Stop reading history; what is known is kept", "stop_history", bar=False,
            blocked=_not_reading, shown=_is_reading),
    Command("history.find", "slash", "Find", "Find a commit by words of its subject, author, date or sha", "find",
            blocked=_no_line),
    Command("history.go", "colon", "Go", "Go to a branch, tag, sha, ordinal or date", "go_to", shown_as=":",
            blocked=_no_line),
    Command("history.stand", "s", "Stand", "Stand here: show this moment in Symbols too, until you come back to now", "stand",
            shown_as="⏎", blocked=_no_moment),
    Command("history.next", "t", "Tab", "The next tab: changes, symbols, life, drift, episode in turn", "next_tab"),
    Command("history.detail", "v", "View", "Difference, source, callers, callees of the symbol in turn", "next_detail"),
    Command("history.open", "o", "Open", "Show the symbol in Symbols, at its moment", "open_row", blocked=_no_symbol),
    Command("history.life", "L", "Life", "The life of the symbol under the cursor, or of a name", "show_life",
            shown_as="L", blocked=_no_line),
    Command("history.read", "b", "Read", "Read the history that is not known yet; the known part answers meanwhile",
            "read_history", bar=False, blocked=_nothing_to_read, shown=_can_read),
    Command("history.mark", "m", "Mark", "Mark this moment: changes are shown between it and the cursor", "flip_mark",
            blocked=_no_moment),
    Command("history.since", "w", "Since", "What changed since you last looked, or since a commit, tag or date",
            "ask_since", blocked=_no_line),
    Command("history.episodes", "e", "Episodes", "What agents' sessions recorded: show the commit that one saw, and its patch",
            "choose_episode", blocked=_cannot_ask),
    Command("history.drop", "d", "Drop history", "Drop the past before a moment or an age; counts and asks first",
            "drop_history", bar=False, blocked=_cannot_drop),
    Command("history.zoom", "z", "Zoom", "Show the panel with the focus alone, and back", "zoom", bar=False),
)  # fmt: skip
