"""Pack: what was collected, within a budget of tokens, ready to be pasted into a chat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.model import Pack, PackRequest
from cm_tui.tui.modes.pack.commands import PACK_COMMANDS, STEP
from cm_tui.tui.modes.pack.pack_draft import PackDraft, lengthened
from cm_tui.tui.modes.pack.pack_list import BudgetBar, PackList, PackRow
from cm_tui.tui.screens.commands import bindings
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.screens.input_parsing import number_in, span_in
from cm_tui.tui.screens.messages import OpenPath
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.save_text import ask_and_save
from cm_tui.tui.theme.highlight import highlighted_lines
from cm_tui.tui.widgets.sourcelist import CodeLine, SourceList
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import count, one_line
from cm_tui.tui.widgets.text_prompt import Prompt

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

NO_PIECES = (
    "Nothing is collected yet. Press a on a hit in Search or on a symbol in Symbols, "
    "or press / here and ask a question."
)
NO_MARKDOWN = "What goes into the chat is shown here."


class PackScreen(ModeScreen):
    """Collect context and take it away."""

    MODE = "pack"
    INTRO = (
        "What you added with a in Search and Symbols stands here in order, with what each piece costs. The bar fills "
        "up to the budget; pieces that do not fit any more are dim and stay out. Or press / and ask a question: the "
        "best pieces for it are chosen. c copies the Markdown for a chat, w writes it to a file. Tokens are estimated."
    )
    COMMANDS_HERE = PACK_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings(PACK_COMMANDS), Binding("escape", "to_list", show=False)]

    def __init__(self) -> None:
        super().__init__()
        self.pack: Pack | None = None
        self.draft = PackDraft(self.cm.pack_selection)
        self._seen_status: object = None

    def compose_body(self) -> Iterable[Widget]:
        """Budget above; pieces and preview below."""
        yield BudgetBar(id="pack-budget")
        yield Static(id="pack-question", markup=False)
        with Split(id="pack-body"):
            with Vertical(id="pack-panel", classes="panel") as panel:
                panel.border_title = Content("Pieces")
                yield PackList(id="pack-list", empty="")
                yield Static(id="pack-notes", markup=False)
            with Vertical(id="pack-preview-panel", classes="panel") as panel:
                panel.border_title = Content("Markdown")
                yield SourceList(id="pack-preview", numbers=False, empty=NO_MARKDOWN)

    def on_mount(self) -> None:
        """Take up budget and question of the last run."""
        kept = self.cm.state.of(self.MODE)
        budget, question = kept.get("budget"), kept.get("question")
        if isinstance(budget, int) and budget > 0:
            self.draft.budget = budget
        if isinstance(question, str):
            self.draft.question = question
        self.pieces.focus()
        super().on_mount()
        self.pack_selection_changed()

    def keep(self) -> None:
        """Budget and question; the pieces are kept by the application."""
        super().keep()
        self.cm.state.of(self.MODE).update(budget=self.draft.budget, question=self.draft.question)

    @property
    def pieces(self) -> PackList:
        """The pieces."""
        return self.query_one("#pack-list", PackList)

    # --- what is in the pack ---

    def project_changed(self) -> None:
        """Count again when the index has news."""
        if self._seen_status is not self.cm.project.status:
            self._seen_status = self.cm.project.status
            self.pack_selection_changed()

    def pack_selection_changed(self) -> None:
        """Show what was chosen at once, then count it."""
        self._show_rows()
        items, budget, question = self.draft.items, self.draft.budget, self.draft.question
        if self.cm.project.engine == "open":
            self.ask("build", lambda engine: _build(engine, items, budget, question), self._built, self._failed)

    def _built(self, built: tuple[Pack, list[CodeLine]]) -> None:
        self.pack, lines = built
        pack = self.pack
        self._show_rows()
        wanted = sum(item.tokens for item in pack.items)
        self.query_one(BudgetBar).show(pack.tokens, max(pack.tokens, wanted), self.draft.budget)
        preview = self.query_one("#pack-preview", SourceList)
        preview.set_rows(lines, cursor=preview.cursor)
        self._show_piece()
        panel = self.query_one("#pack-preview-panel")
        panel.border_subtitle = Content(f"{count(len(lines), 'line')} · about {pack.tokens:,} tokens" if lines else "")
        self._say(" ".join(pack.notes), wrong=any(not item.included for item in pack.items))
        self.refresh_keys()

    def _failed(self, error: CmError) -> None:
        self.pack = None
        self._say(str(error), wrong=True)
        self.refresh_keys()

    def _say(self, text: str, *, wrong: bool = False) -> None:
        notes = self.query_one("#pack-notes", Static)
        notes.update(Content(text))
        notes.set_class(wrong, "-warning")
        notes.display = bool(text)

    def _show_rows(self) -> None:
        items, question = self.draft.items, self.draft.question
        counted = self.pack.items if self.pack and len(self.pack.items) == len(items) else ()
        rows = []
        for index, request in enumerate(items):
            item = counted[index] if counted and counted[index].path == request.path else None
            rows.append(PackRow(index + 1, request, item, self.draft.budget))
        self.pieces.set_rows(
            rows,
            cursor=self.pieces.cursor,
            empty=NO_PIECES if self.cm.project.engine == "open" else self.cm.project.why_not_searchable or "",
        )
        panel = self.query_one("#pack-panel")
        inside = sum(item.included for item in counted)
        some = f"{inside} of {len(items)} fit" if counted and inside < len(items) else count(len(items), "piece")
        panel.border_subtitle = Content(some if items else "")
        above = self.query_one("#pack-question", Static)
        above.update(Content.assemble(("Question  ", "$muted"), one_line(question)))
        above.display = bool(question)
        if not items:
            panel.border_title = Content("Pieces")
            self.query_one(BudgetBar).show(0, 0, self.draft.budget)

    # --- changes ---

    def undo(self) -> None:
        """Take the last change back."""
        self.draft.undo()
        self.cm.tell(f"Back to {count(len(self.draft.items), 'piece')}.", timeout=2)

    def drop(self) -> None:
        """Take the piece under the cursor out."""
        index = self.pieces.cursor
        self.pieces.stand_on(max(0, min(index, len(self.draft.items) - 2)))
        self.draft.drop(index)

    def clear(self) -> None:
        """Take everything out; undo brings it back."""
        self.pack = None
        self.draft.change((), question="")
        self.cm.tell("The pack is empty; u brings it back.", timeout=3)

    def move_up(self) -> None:
        """Earlier."""
        self._move(-1)

    def move_down(self) -> None:
        """Later."""
        self._move(1)

    def _move(self, by: int) -> None:
        index = self.pieces.cursor
        self.pieces.stand_on(max(0, min(index + by, len(self.draft.items) - 1)))
        self.draft.move(index, by)

    def lengthen(self) -> None:
        """More lines at each end."""
        self.draft.set_lines(self.pieces.cursor, *lengthened(self._current(), STEP))

    def shorten(self) -> None:
        """Fewer lines at each end."""
        self.draft.set_lines(self.pieces.cursor, *lengthened(self._current(), -STEP))

    def _current(self) -> PackRequest:
        """The piece under the cursor, with the lines that it really has once they were counted."""
        request = self.draft.items[self.pieces.cursor]
        row = self.pieces.current
        if row is not None and row.request == request and row.item is not None and row.item.text:
            return replace(request, start_line=row.item.start_line, end_line=row.item.end_line)
        return request

    def edit_lines(self) -> None:
        """Ask for first and last line."""
        request = self._current()

        def done(answer: str | None) -> None:
            if answer is not None and (span := span_in(answer)):
                self.draft.set_lines(self.pieces.cursor, *span)

        def check(text: str) -> str | None:
            return None if span_in(text) else "Give two lines, such as 10-42."

        self.app.push_screen(
            Prompt("First and last line", f"{request.start_line}-{request.end_line}", one_line(request.path), check),
            done,
        )

    def set_budget(self) -> None:
        """Ask for the budget."""

        def done(answer: str | None) -> None:
            if answer is not None:
                self.draft.budget = number_in(answer) or self.draft.budget
                self.remember()
                self.pack_selection_changed()

        def check(text: str) -> str | None:
            return None if number_in(text) else "Give a number, such as 4000 or 8k."

        self.app.push_screen(
            Prompt("Budget in tokens", str(self.draft.budget), "An estimate: see the guide on packs.", check), done
        )

    def edit_question(self) -> None:
        """Ask for the question that stands first."""

        def done(answer: str | None) -> None:
            if answer is not None:
                self.draft.change(self.draft.items, question=answer.strip())

        self.app.push_screen(
            Prompt("Question", self.draft.question, "Stands first in the Markdown; may be empty."), done
        )

    def ask_question(self) -> None:
        """Ask for a question and choose what answers it."""

        def done(answer: str | None) -> None:
            if answer and answer.strip():
                self._automatic(answer.strip())

        hint = "The best pieces for it take the place of these; u brings these back."
        self.app.push_screen(Prompt("Ask", self.draft.question, hint), done)

    def _automatic(self, question: str) -> None:
        budget = self.draft.budget
        self._say("Choosing…")

        def got(pack: Pack) -> None:
            chosen = [
                PackRequest(item.path, item.start_line, item.end_line, item.title, item.why)
                for item in pack.items
                if item.included
            ]
            if chosen:
                self.pack = None
                self.pieces.stand_on(0)
                self.draft.change(chosen, question=question)
                if pack.notes:
                    self.cm.tell(" ".join(pack.notes), timeout=4)
            else:
                self._say(" ".join(pack.notes) or "Nothing was found for this question.", wrong=True)

        self.ask("auto", lambda engine: engine.pack(question, budget=budget), got, self._failed)

    def add_neighbours(self) -> None:
        """Callers, callees and used types of the piece under the cursor, last: what was chosen keeps its room."""
        request = self._current()

        def got(found: tuple[PackRequest, ...]) -> None:
            if added := self.draft.append(found):
                self.cm.tell(f"Added {count(added, 'neighbour')}; u takes them out.", timeout=3)
            else:
                self.cm.tell("It has no neighbours that are not in the pack.", timeout=3)

        self.ask("neighbours", lambda engine: engine.neighbours([request]), got)

    # --- taking it away ---

    def copy_pack(self) -> None:
        """The Markdown to the clipboard."""
        assert self.pack is not None
        copy_and_tell(self, self.pack.markdown, f"Pack of about {self.pack.tokens:,} tokens.")

    def save_pack(self) -> None:
        """Ask for a file and write the Markdown there."""
        assert self.pack is not None
        ask_and_save(self, "Save the pack", self.pack.markdown + "\n", "pack.md")

    # --- moving about ---

    @on(PackList.Chosen, "#pack-list")
    def _open(self, event: PackList.Chosen) -> None:
        row: PackRow = event.row
        self.post_message(OpenPath(row.request.path, row.request.start_line))

    @on(PackList.Highlighted, "#pack-list")
    def _show_piece(self) -> None:
        """Say why the piece under the cursor is here, and bring it on screen in the Markdown."""
        row = self.pieces.current
        if row is None:
            return
        why = f" · {one_line(row.request.why)}" if row.request.why else ""
        self.query_one("#pack-panel").border_title = Content(f"Pieces{why}")
        if row.item is None or not row.item.included:
            return
        preview = self.query_one("#pack-preview", SourceList)
        place = f"{row.item.path}:{row.item.start_line}-{row.item.end_line}`"
        for line in preview.rows:
            if line.content.plain.startswith("### ") and place in line.content.plain:
                preview.mark(range(line.number, line.number + 1))
                preview.show_at_top(line.number)
                return

    def action_to_list(self) -> None:
        """Back to the pieces."""
        self.pieces.focus()


def _build(engine: Engine, items: tuple[PackRequest, ...], budget: int, question: str) -> tuple[Pack, list[CodeLine]]:
    """The pack, and its Markdown as it is shown: in colours, which take too long for the screen's thread."""
    pack = engine.pack_items(items, budget=budget, question=question)
    # With a line break at its end, as the last block of code has no colours otherwise.
    lines = highlighted_lines(f"{pack.markdown}\n", "markdown", "pack.md")[:-1] if pack.markdown else []
    return pack, [CodeLine(number, line) for number, line in enumerate(lines, start=1)]
