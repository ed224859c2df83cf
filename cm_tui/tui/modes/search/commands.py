"""The commands of search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.modes.search.screen import SearchScreen


def _no_hit(screen: SearchScreen) -> str | None:
    return None if screen.hit else "there is no result"


def _nothing_tuned(screen: SearchScreen) -> str | None:
    return None if screen.session.tuned else "nothing was changed"


def _not_narrow(screen: SearchScreen) -> str | None:
    narrow, tuning = screen.has_class("-narrow"), screen.has_class("-tuning")
    if narrow and tuning:
        return "the knobs are open (t closes them)"
    return None if narrow or (tuning and screen.has_class("-normal")) else "both are on screen"


SEARCH_COMMANDS = (
    Command("search.focus", "slash,ctrl+f", "Query", "Type another query", "focus_query"),
    Command("search.results", "escape,down", "Results", "From the input to the results", "leave_query", bar=False),
    Command(
        "search.open", "o", "Open", "Show the symbol, with who calls it", "open_hit", shown_as="⏎", blocked=_no_hit
    ),
    Command("search.add", "a,space", "Pack", "Put the result into the pack", "add_hit", blocked=_no_hit),
    Command("search.tune", "t,ctrl+n", "Tune", "Show or hide the numbers of the profile", "toggle_tuning"),
    Command("search.side", "v,ctrl+y", "Why", "Switch between preview and why", "switch_side", blocked=_not_narrow),
    Command("search.mode", "m,ctrl+o", "Mode", "Hybrid, keyword or vector", "next_mode"),
    Command("search.profile", "p,ctrl+l", "Profile", "The next ranking profile", "next_profile"),
    Command("search.copy", "y", "Copy", "Copy path and lines", "copy_place", blocked=_no_hit),
    Command("search.edit", "e", "Edit", "Open in $EDITOR at the line", "edit_hit", blocked=_no_hit),
    Command(
        "search.reset", "r", "Reset", "Back to the saved numbers", "reset_tuning", bar=False, blocked=_nothing_tuned
    ),
    Command(
        "search.save", "s", "Save", "Save the numbers to the project", "save_tuning", bar=False, blocked=_nothing_tuned
    ),
)
