"""The commands of the symbols mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.modes.symbols.screen import SymbolsScreen


def _nothing_shown(screen: SymbolsScreen) -> str | None:
    return None if screen.place else "nothing is shown yet; choose a symbol"


def _no_way_back(screen: SymbolsScreen) -> str | None:
    return None if screen.navigation.can_go_back else "this is where you started"


def _no_way_forward(screen: SymbolsScreen) -> str | None:
    return None if screen.navigation.can_go_forward else "there is nothing ahead"


def _no_index(screen: SymbolsScreen) -> str | None:
    return screen.cm.project.why_not_searchable


def _not_now(screen: SymbolsScreen) -> str | None:
    return "a past moment is shown; 0 leads back to now" if screen.cm.revision.moment else _nothing_shown(screen)


def _no_symbol(screen: SymbolsScreen) -> str | None:
    return None if screen.view and screen.view.symbol else "no symbol is shown"


SYMBOLS_COMMANDS: tuple[Command, ...] = (
    Command("symbols.jump", "slash", "Find", "Find a symbol by some of its letters", "jump", blocked=_no_index),
    Command("symbols.add", "a", "Add to pack", "Put the symbol, or the row under the cursor, into the pack", "add",
            blocked=_not_now),
    Command("symbols.depth", "d", "Depth", "Follow callers and callees 1, 2 or 3 steps", "deeper",
            blocked=_nothing_shown),
    Command("symbols.back", "left_square_bracket,alt+left", "Back", "Where you were before", "back",
            blocked=_no_way_back),
    Command("symbols.forward", "right_square_bracket,alt+right", "Forward", "Where you were after", "forward",
            bar=False,
            blocked=_no_way_forward),
    Command("symbols.copy", "y", "Copy place", "Copy path:line", "copy_place", blocked=_nothing_shown),
    Command("symbols.edit", "e", "Edit", "Open in $EDITOR at this line", "edit", blocked=_not_now),
    Command("symbols.life", "L", "Life", "When it came, changed and left: its life in the history mode", "show_life",
            shown_as="L", blocked=_no_symbol),
    Command("symbols.next", "t", "Next tab", "Definitions, callers, callees, imports, importers in turn",
            "next_tab", bar=False),
    Command("symbols.zoom", "z", "Zoom", "Show the panel with the focus alone, and back", "zoom"),
)  # fmt: skip
