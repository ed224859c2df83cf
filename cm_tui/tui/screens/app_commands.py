"""The commands that every mode has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.screens.mode_screen import ModeScreen


def _no_index_run(screen: ModeScreen) -> str | None:
    return None if screen.cm.tasks.indexing or screen.cm.project.job else "no index run is on its way"


def _can_index(screen: ModeScreen) -> str | None:
    if screen.cm.project.engine != "open":
        return "the project is not open"
    return "an index run is on its way already" if screen.cm.tasks.indexing else None


def _one_part(screen: ModeScreen) -> str | None:
    return None if screen.split else "there is no border to move here"


def _is_now(screen: ModeScreen) -> str | None:
    return None if screen.cm.revision.moment else "this is now"


APP_COMMANDS: tuple[Command, ...] = (
    Command("app.help", "question_mark,f12", "Help", "Every key of this mode", "show_help"),
    Command("app.overview", "1,f1", "Overview", "The project and its index", "go_overview", bar=False),
    Command("app.search", "2,f2", "Search", "Ask the code", "go_search", bar=False),
    Command("app.symbols", "3,f3", "Symbols", "Browse symbols and who calls whom", "go_symbols", bar=False),
    Command("app.pack", "4,f4", "Pack", "Collect context and take it away", "go_pack", bar=False),
    Command("app.health", "5,f5", "Health", "Daemon, jobs, freshness, and checks", "go_health", bar=False),
    Command("app.history", "6,f6", "History", "What changed, lives of symbols, drift", "go_history", bar=False),
    Command("app.now", "0", "Back to now", "Leave the past moment that is shown", "go_to_now", bar=False,
            blocked=_is_now),
    Command("app.palette", "ctrl+p", "Commands", "Find any command by name", "show_palette", palette=False),
    Command(
        "app.index",
        "ctrl+r",
        "Update index",
        "Index what changed since the last run",
        "start_index",
        bar=False,
        priority=True,
        blocked=_can_index,
    ),
    Command(
        "app.stop-index",
        "ctrl+g",
        "Stop indexing",
        "Stop the index run; what is done is kept",
        "stop_index",
        bar=False,
        priority=True,
        blocked=_no_index_run,
    ),
    Command(
        "app.wider", "greater_than_sign", "Wider", "More room for the panel on the left", "wider", bar=False,
        blocked=_one_part,
    ),
    Command(
        "app.narrower", "less_than_sign", "Narrower", "Less room for the panel on the left", "narrower", bar=False,
        blocked=_one_part,
    ),
    Command("app.theme", "ctrl+t", "Theme", "Choose a theme", "choose_theme", bar=False),
    Command("app.quit", "q,ctrl+q", "Quit", "Leave; everything is found again next time", "leave"),
)  # fmt: skip
