"""Pack: collected pieces within a budget of tokens, ready to be pasted into a chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import BindingType

from cm_tui.model import Pack, PackRequest
from cm_tui.tui.modes.pack.view import WHOLE, PackList, PackRow, PackView, lengthened
from cm_tui.tui.screens.app_commands import (
    not_searchable,
    nothing_to_redo,
    nothing_to_undo,
    redo_last,
    show_mode,
    undo_last,
)
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.episode_commands import open_memory
from cm_tui.tui.screens.messages import OpenPath
from cm_tui.tui.screens.question import Line, ask_line
from cm_tui.tui.screens.save_text import ask_and_save, ask_budget, copy_and_report, note_recalled, span_in
from cm_tui.tui.state.change_history import own_change
from cm_tui.tui.widgets.text import count, one_line


def edit_lines(screen: PackView) -> None:
    """Ask for first and last line of the piece under the cursor."""
    request = screen.current

    def done(answer: str) -> None:
        if span := span_in(answer):
            _set_lines(screen, *span)

    def check(text: str) -> str | None:
        return None if span_in(text) else "Enter two lines, such as 10-42."

    lines = f"{request.start_line}-{request.end_line}"
    ask_line(screen, "First and last line", Line(done, lines, one_line(request.path), check))


def set_budget(screen: PackView) -> None:
    """Ask for the budget."""

    def done(after: int) -> None:
        if after == before:
            return
        put(after)
        label, about = f"set the budget of the pack to {after:,} tokens", frozenset({"pack budget"})
        screen.cm.history.add(own_change(label, screen.MODE, about, partial(put, before), partial(put, after)))

    def put(budget: int) -> None:
        screen.budget = budget
        screen.remember()
        screen.pack_selection_changed()

    before = screen.budget
    ask_budget(screen, before, "An estimate: see the guide on packs.", done)


def edit_question(screen: PackView) -> None:
    """Ask for the question that stands first."""
    line = Line(
        lambda answer: screen.change(screen.items, screen.pieces.cursor, question=answer.strip()),
        screen.cm.pack_selection.question, "First line of the Markdown; may be empty.",
    )  # fmt: skip
    ask_line(screen, "Question", line)


def ask_question(screen: PackView) -> None:
    """Ask for a question and choose what answers it."""

    def done(answer: str) -> None:
        if answer.strip():
            _choose_pieces(screen, answer.strip())

    hint = "The best pieces for it replace these; u restores these."
    ask_line(screen, "Ask", Line(done, screen.cm.pack_selection.question, hint))


def _choose_pieces(screen: PackView, question: str) -> None:
    budget = screen.budget
    screen.say("Choosing…")

    def got(pack: Pack) -> None:
        chosen = [
            PackRequest(item.path, item.start_line, item.end_line, item.title, item.why)
            for item in pack.items
            if item.included
        ]
        if chosen:
            screen.pack = None
            screen.change(chosen, question=question)
            if pack.notes:
                screen.cm.tell(" ".join(pack.notes), timeout=4)
        else:
            screen.say(" ".join(pack.notes) or "No results for this question.", wrong=True)

    screen.ask("auto", lambda engine: engine.pack(question, budget=budget), got, screen.failed)


STEP = 3
"""Lines that + and - add or take at each end."""


_empty: Callable[[PackView], str | None] = unless(
    lambda screen: screen.items, "the pack is empty; press a on a search hit or a symbol"
)
_no_text: Callable[[PackView], str | None] = unless(
    lambda screen: screen.pack and screen.pack.markdown, "the pack is empty"
)
_memory: Callable[[PackView], str | None] = unless(
    lambda screen: not screen.pieces.current or not screen.pieces.current.is_memory, "a memory is always included whole"
)
_whole: Callable[[PackView], str | None] = unless(
    lambda screen: not screen.pieces.current or not screen.pieces.current.is_whole, WHOLE
)
_single: Callable[[PackView], str | None] = unless(
    lambda screen: screen.current.start_line < screen.current.end_line, "it is a single line"
)


# --- changes ---


def drop(screen: PackView) -> None:
    """Take the piece under the cursor out."""
    index, items = screen.pieces.cursor, screen.items
    screen.change([*items[:index], *items[index + 1 :]], max(0, min(index, len(items) - 2)))


def clear(screen: PackView) -> None:
    """Remove all pieces; undo brings it back."""
    screen.pack = None
    screen.change((), question="")
    screen.cm.tell("Pack emptied; u restores it.", timeout=3)


def _move(screen: PackView, by: int) -> None:
    items, index = list(screen.items), screen.pieces.cursor
    if 0 <= index + by < len(items):
        items[index], items[index + by] = items[index + by], items[index]
        screen.change(items, index + by)
    else:
        screen.cm.refuse(f"It is already the {'first' if by < 0 else 'last'} piece")


def _lengthen(screen: PackView, by: int) -> None:
    before = screen.current
    _set_lines(screen, *lengthened(before, by))
    screen.grown_from = before if by > 0 else None


def _set_lines(screen: PackView, start: int, end: int) -> None:
    items, index = list(screen.items), screen.pieces.cursor
    items[index] = replace(items[index], start_line=start, end_line=end)
    screen.change(items, index)


def add_neighbours(screen: PackView) -> None:
    """Add callers, callees and used types of the piece under the cursor, last: what was chosen keeps its room."""
    request = screen.current

    def got(found: tuple[PackRequest, ...]) -> None:
        if added := screen.cm.pack_selection.add(found):
            screen.cm.tell(f"Added {count(added, 'neighbour')}; u removes them.", timeout=3)
        else:
            screen.cm.tell("All of its neighbours are already in the pack.", timeout=3)

    screen.ask("neighbours", lambda engine: engine.neighbours([request]), got)


# --- taking it away ---


def copy_pack(screen: PackView, pack: Pack) -> None:
    """Copy the Markdown to the clipboard."""
    copy_and_report(screen, pack.markdown, f"Pack of about {pack.tokens:,} tokens.")
    note_recalled(screen, pack.recalled)


def save_pack(screen: PackView, pack: Pack) -> None:
    """Ask for a file and write the Markdown there."""
    recalled = partial(note_recalled, screen, pack.recalled)
    ask_and_save(screen, "Save the pack", pack.markdown + "\n", "pack.md", recalled)


PACK_COMMANDS: tuple[Command[PackView], ...] = (
    Command("pack.copy", "c,y", "Copy", "Copy the pack as Markdown", with_target("pack", copy_pack), blocked=_no_text),
    Command("pack.ask", "slash", "Ask", "Choose pieces for a question, replacing these", ask_question,
            blocked=not_searchable),
    Command("pack.drop", "d,delete", "Drop", "Remove the piece", drop, blocked=_empty),
    Command("pack.undo", "u", "Undo", "Undo the last change, of any mode", undo_last, blocked=nothing_to_undo),
    Command("pack.redo", "U", "Redo", "Redo the change that was undone last", redo_last, bar="possible",
            blocked=nothing_to_redo),
    Command("pack.budget", "b", "Budget", "Set the budget in tokens", set_budget),
    Command("pack.neighbours", "n", "Neighbours", "Add callers, callees and used types", add_neighbours,
            blocked=_empty),
    Command("pack.save", "w", "Save", "Write the Markdown to a file", with_target("pack", save_pack), blocked=_no_text),
    Command("pack.agents", "P", "Agents", "Show what agents receive: the other page of this mode", show_mode("context")),
    Command("pack.up", "K,shift+up", "Move up", "Earlier in the pack", partial(_move, by=-1), bar=False,
            blocked=_empty),
    Command("pack.down", "J,shift+down", "Move down", "Later in the pack", partial(_move, by=1), bar=False,
            blocked=_empty),
    Command("pack.grow", "plus,equals_sign", "Grow", f"{STEP} more lines at each end", partial(_lengthen, by=STEP),
            bar=False, blocked=(_empty, _memory, _whole)),
    Command("pack.shrink", "minus", "Shrink", f"{STEP} fewer lines at each end", partial(_lengthen, by=-STEP),
            bar=False, blocked=(_empty, _memory, _single)),
    Command("pack.lines", "e", "Lines", "Set first and last line", edit_lines, bar=False, blocked=_empty),
    Command("pack.question", "Q", "Question", "Set the question at the top", edit_question, bar=False),
    Command("pack.clear", "X", "Clear", "Remove all pieces", clear, bar=False, blocked=_empty),
)  # fmt: skip


class PackScreen(PackView, commands=PACK_COMMANDS):
    """Collect context for a chat."""

    INTRO = (
        "The pieces that you added with a in Search and Symbols, in order, with their tokens. The bar shows how full "
        "the budget is; pieces over the budget are dim and excluded. Or press / and ask a question: the "
        "best pieces for it are chosen. c copies the Markdown for a chat, w writes it to a file. Tokens are estimated."
    )
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "to_list")]

    @on(PackList.Chosen, "#pack-list")
    def _open(self, event: PackList.Chosen) -> None:
        row: PackRow = event.row
        if row.is_memory:
            open_memory(self, row.request.path)
            return
        self.post_message(OpenPath(row.request.path, row.request.start_line))

    def action_to_list(self) -> None:
        """Back to the pieces."""
        self.pieces.focus()
