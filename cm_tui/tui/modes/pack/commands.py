"""The commands of the pack mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.modes.pack.screen import PackScreen

STEP = 3
"""Lines that + and - add or take at each end."""


def _empty(screen: PackScreen) -> str | None:
    return None if len(screen.cm.pack_selection) else "the pack is empty; press a on a search hit or a symbol"


def _no_text(screen: PackScreen) -> str | None:
    return None if screen.pack and screen.pack.markdown else "there is nothing in the pack to take away"


def _no_undo(screen: PackScreen) -> str | None:
    return None if screen.draft.can_undo else "nothing was changed yet"


def _no_index(screen: PackScreen) -> str | None:
    return screen.cm.project.why_not_searchable


PACK_COMMANDS: tuple[Command, ...] = (
    Command("pack.copy", "c,y", "Copy", "Copy the pack as Markdown", "copy_pack", blocked=_no_text),
    Command("pack.ask", "slash", "Ask", "Choose pieces for a question, in place of these", "ask_question",
            blocked=_no_index),
    Command("pack.drop", "d,delete", "Drop", "Take the piece out", "drop", blocked=_empty),
    Command("pack.undo", "u", "Undo", "Take the last change back", "undo", blocked=_no_undo),
    Command("pack.budget", "b", "Budget", "Set the budget in tokens", "set_budget"),
    Command("pack.neighbours", "n", "Neighbours", "Add callers, callees and used types", "add_neighbours",
            blocked=_empty),
    Command("pack.save", "w", "Save", "Write the Markdown to a file", "save_pack", blocked=_no_text),
    Command("pack.up", "K,shift+up", "Move up", "Earlier in the pack", "move_up", shown_as="K", bar=False,
            blocked=_empty),
    Command("pack.down", "J,shift+down", "Move down", "Later in the pack", "move_down", shown_as="J", bar=False,
            blocked=_empty),
    Command("pack.grow", "plus,equals_sign", "Grow", f"{STEP} more lines at each end", "lengthen", shown_as="+",
            bar=False, blocked=_empty),
    Command("pack.shrink", "minus", "Shrink", f"{STEP} fewer lines at each end", "shorten", bar=False,
            blocked=_empty),
    Command("pack.lines", "e", "Lines", "Set first and last line", "edit_lines", bar=False, blocked=_empty),
    Command("pack.question", "Q", "Question", "Set the question that stands first", "edit_question",
            shown_as="Q", bar=False),
    Command("pack.clear", "X", "Clear", "Take everything out", "clear", shown_as="X", bar=False, blocked=_empty),
)  # fmt: skip
