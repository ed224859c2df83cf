"""The commands of the pack mode."""

from __future__ import annotations

from functools import partial

from cm_tui.model import Pack, PackRequest
from cm_tui.tui.modes.pack.pack_draft import lengthened
from cm_tui.tui.modes.pack.questions import ask_question, edit_lines, edit_question, set_budget
from cm_tui.tui.modes.pack.view import PackView
from cm_tui.tui.screens.app_commands import show_mode
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.screens.save_text import ask_and_save
from cm_tui.tui.screens.undo_commands import nothing_to_redo, nothing_to_undo, redo_last, undo_last
from cm_tui.tui.widgets.text import count

STEP = 3
"""Lines that + and - add or take at each end."""


def _empty(screen: PackView) -> str | None:
    return None if len(screen.cm.pack_selection) else "the pack is empty; press a on a search hit or a symbol"


def _no_text(screen: PackView) -> str | None:
    return None if screen.pack and screen.pack.markdown else "there is nothing in the pack to take away"


def _no_index(screen: PackView) -> str | None:
    return screen.cm.project.why_not_searchable


# --- changes ---


def drop(screen: PackView) -> None:
    """Take the piece under the cursor out."""
    index = screen.pieces.cursor
    screen.pieces.put_cursor(max(0, min(index, len(screen.draft.items) - 2)))
    screen.draft.drop(index)


def clear(screen: PackView) -> None:
    """Take everything out; undo brings it back."""
    screen.pack = None
    screen.draft.change((), question="")
    screen.cm.tell("The pack is empty; u brings it back.", timeout=3)


def move_up(screen: PackView) -> None:
    """Put the piece earlier."""
    _move(screen, -1)


def move_down(screen: PackView) -> None:
    """Put the piece later."""
    _move(screen, 1)


def _move(screen: PackView, by: int) -> None:
    index = screen.pieces.cursor
    screen.pieces.put_cursor(max(0, min(index + by, len(screen.draft.items) - 1)))
    screen.draft.move(index, by)


def lengthen(screen: PackView) -> None:
    """Give the piece more lines at each end."""
    screen.draft.set_lines(screen.pieces.cursor, *lengthened(screen.current, STEP))


def shorten(screen: PackView) -> None:
    """Give the piece fewer lines at each end."""
    screen.draft.set_lines(screen.pieces.cursor, *lengthened(screen.current, -STEP))


def add_neighbours(screen: PackView) -> None:
    """Add callers, callees and used types of the piece under the cursor, last: what was chosen keeps its room."""
    request = screen.current

    def got(found: tuple[PackRequest, ...]) -> None:
        if added := screen.draft.append(found):
            screen.cm.tell(f"Added {count(added, 'neighbour')}; u takes them out.", timeout=3)
        else:
            screen.cm.tell("It has no neighbours that are not in the pack.", timeout=3)

    screen.ask("neighbours", lambda engine: engine.neighbours([request]), got)


# --- taking it away ---


def copy_pack(screen: PackView) -> None:
    """Copy the Markdown to the clipboard."""
    assert screen.pack is not None
    copy_and_tell(screen, screen.pack.markdown, f"Pack of about {screen.pack.tokens:,} tokens.")
    _count_recalled(screen, screen.pack)


def save_pack(screen: PackView) -> None:
    """Ask for a file and write the Markdown there."""
    assert screen.pack is not None
    taken_along = partial(_count_recalled, screen, screen.pack)
    ask_and_save(screen, "Save the pack", screen.pack.markdown + "\n", "pack.md", taken_along)


def _count_recalled(screen: PackView, pack: Pack) -> None:
    """Count what of the memory is taken along."""
    if paths := pack.recalled:
        screen.do(lambda engine: engine.note_recalled(paths), lambda _: None)


PACK_COMMANDS: tuple[Command[PackView], ...] = (
    Command("pack.copy", "c,y", "Copy", "Copy the pack as Markdown", copy_pack, blocked=_no_text),
    Command("pack.ask", "slash", "Ask", "Choose pieces for a question, in place of these", ask_question,
            blocked=_no_index),
    Command("pack.drop", "d,delete", "Drop", "Take the piece out", drop, blocked=_empty),
    Command("pack.undo", "u", "Undo", "Undo the last change, of any mode", undo_last,
            blocked=nothing_to_undo),
    Command("pack.redo", "U", "Redo", "Redo the change that was undone last", redo_last, bar=False, shown_as="U",
            shown=lambda screen: nothing_to_redo(screen) is None, blocked=nothing_to_redo),
    Command("pack.budget", "b", "Budget", "Set the budget in tokens", set_budget),
    Command("pack.neighbours", "n", "Neighbours", "Add callers, callees and used types", add_neighbours,
            blocked=_empty),
    Command("pack.save", "w", "Save", "Write the Markdown to a file", save_pack, blocked=_no_text),
    Command("pack.agents", "P", "Agents", "What agents receive: the other page of this mode", show_mode("context"),
            shown_as="P"),
    Command("pack.up", "K,shift+up", "Move up", "Earlier in the pack", move_up, shown_as="K", bar=False,
            blocked=_empty),
    Command("pack.down", "J,shift+down", "Move down", "Later in the pack", move_down, shown_as="J", bar=False,
            blocked=_empty),
    Command("pack.grow", "plus,equals_sign", "Grow", f"{STEP} more lines at each end", lengthen, shown_as="+",
            bar=False, blocked=_empty),
    Command("pack.shrink", "minus", "Shrink", f"{STEP} fewer lines at each end", shorten, bar=False,
            blocked=_empty),
    Command("pack.lines", "e", "Lines", "Set first and last line", edit_lines, bar=False, blocked=_empty),
    Command("pack.question", "Q", "Question", "Set the question at the top", edit_question,
            shown_as="Q", bar=False),
    Command("pack.clear", "X", "Clear", "Take everything out", clear, shown_as="X", bar=False, blocked=_empty),
)  # fmt: skip
