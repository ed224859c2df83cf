"""What the pack mode asks a person for: lines, a budget, the question that stands first, one that chooses the pieces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cm_tui.model import Pack, PackRequest
from cm_tui.tui.modes.pack.view import PackView
from cm_tui.tui.screens.input_parsing import number_in, span_in
from cm_tui.tui.screens.question import Line, ask_line
from cm_tui.tui.state.change_history import Finish, UndoableChange
from cm_tui.tui.widgets.text import one_line


def edit_lines(screen: PackView) -> None:
    """Ask for first and last line of the piece under the cursor."""
    request = screen.current

    def done(answer: str) -> None:
        if span := span_in(answer):
            screen.draft.set_lines(screen.pieces.cursor, *span)

    def check(text: str) -> str | None:
        return None if span_in(text) else "Give two lines, such as 10-42."

    lines = f"{request.start_line}-{request.end_line}"
    ask_line(screen, "First and last line", Line(done, lines, one_line(request.path), check))


def set_budget(screen: PackView) -> None:
    """Ask for the budget."""

    def done(answer: str) -> None:
        before, after = screen.draft.budget, number_in(answer)
        if not after or after == before:
            return
        put(after)
        undo, redo = partial(_put_back, partial(put, before)), partial(_put_back, partial(put, after))
        label = f"set the budget of the pack to {after:,} tokens"
        screen.cm.history.add(UndoableChange(label, screen.MODE, undo, redo, frozenset({"pack budget"})))

    def put(budget: int) -> None:
        screen.draft.budget = budget
        screen.remember()
        screen.pack_selection_changed()

    def check(text: str) -> str | None:
        return None if number_in(text) else "Give a number, such as 4000 or 8k."

    hint = "An estimate: see the guide on packs."
    ask_line(screen, "Budget in tokens", Line(done, str(screen.draft.budget), hint, check))


def _put_back(put: Callable[[], None], _: object, finish: Finish) -> None:
    put()
    finish("")


def edit_question(screen: PackView) -> None:
    """Ask for the question that stands first."""

    def done(answer: str) -> None:
        screen.draft.change(screen.draft.items, question=answer.strip())

    hint = "Stands first in the Markdown; may be empty."
    ask_line(screen, "Question", Line(done, screen.draft.question, hint))


def ask_question(screen: PackView) -> None:
    """Ask for a question and choose what answers it."""

    def done(answer: str) -> None:
        if answer.strip():
            _choose_pieces(screen, answer.strip())

    hint = "The best pieces for it take the place of these; u brings these back."
    ask_line(screen, "Ask", Line(done, screen.draft.question, hint))


def _choose_pieces(screen: PackView, question: str) -> None:
    budget = screen.draft.budget
    screen.say("Choosing…")

    def got(pack: Pack) -> None:
        chosen = [
            PackRequest(item.path, item.start_line, item.end_line, item.title, item.why)
            for item in pack.items
            if item.included
        ]
        if chosen:
            screen.pack = None
            screen.pieces.put_cursor(0)
            screen.draft.change(chosen, question=question)
            if pack.notes:
                screen.cm.tell(" ".join(pack.notes), timeout=4)
        else:
            screen.say(" ".join(pack.notes) or "Nothing was found for this question.", wrong=True)

    screen.ask("auto", lambda engine: engine.pack(question, budget=budget), got, screen.failed)
