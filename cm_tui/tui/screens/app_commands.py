"""The commands that every mode has."""

from __future__ import annotations

from typing import Protocol

from cm_tui.tui.screens.app_services import AppServices
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.widgets.split import Split


class AnyMode(Protocol):
    """What these commands use of the mode on screen."""

    @property
    def cm(self) -> AppServices:
        """The application."""

    @property
    def split(self) -> Split | None:
        """The two parts of the mode, where it has two."""


# What a mode offers under a key of its own is the same function there, so that the palette lists it once.


def show_overview(screen: AnyMode) -> None:
    """Show the overview."""
    screen.cm.go("overview")


def show_search(screen: AnyMode) -> None:
    """Show search."""
    screen.cm.go("search")


def show_symbols(screen: AnyMode) -> None:
    """Show symbols."""
    screen.cm.go("symbols")


def show_pack(screen: AnyMode) -> None:
    """Show the pack."""
    screen.cm.go("pack")


def show_health(screen: AnyMode) -> None:
    """Show health."""
    screen.cm.go("health")


def show_history(screen: AnyMode) -> None:
    """Show history."""
    screen.cm.go("history")


def start_index(screen: AnyMode) -> None:
    """Bring the index up to the working tree."""
    screen.cm.lifecycle.start_index()


def stop_index(screen: AnyMode) -> None:
    """Stop the index run, whoever started it."""
    screen.cm.stop_index()


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
    """Say why there is none to stop."""
    return None if screen.cm.tasks.indexing or screen.cm.project.job else "no index run is on its way"


def _cannot_index_again(screen: AnyMode) -> str | None:
    reason = cannot_index(screen)
    return f"{reason} already" if reason and screen.cm.tasks.indexing else reason


def _no_split(screen: AnyMode) -> str | None:
    return None if screen.split else "there is no border to move here"


def _is_now(screen: AnyMode) -> str | None:
    return None if screen.cm.revision.moment else "this is now"


APP_COMMANDS: tuple[Command[AnyMode], ...] = (
    Command("app.help", "question_mark,f12", "Help", "Every key of this mode", lambda screen: screen.cm.show_help()),
    Command("app.overview", "1,f1", "Overview", "The project and its index", show_overview, bar=False),
    Command("app.search", "2,f2", "Search", "Ask the code", show_search, bar=False),
    Command("app.symbols", "3,f3", "Symbols", "Browse symbols and who calls whom", show_symbols, bar=False),
    Command("app.pack", "4,f4", "Pack", "Collect context and take it away", show_pack, bar=False),
    Command("app.health", "5,f5", "Health", "Daemon, jobs, freshness, and checks", show_health, bar=False),
    Command("app.history", "6,f6", "History", "What changed, lives of symbols, drift", show_history, bar=False),
    Command("app.now", "0", "Back to now", "Leave the past moment that is shown",
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
    Command("app.quit", "q,ctrl+q", "Quit", "Leave; everything is found again next time",
            lambda screen: screen.cm.leave()),
)  # fmt: skip
