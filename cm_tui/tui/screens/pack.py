"""Pack: what was collected, within a budget of tokens, ready to be pasted into a chat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static, TextArea

from cm_tui.errors import CmError
from cm_tui.model import Pack, PackRequest
from cm_tui.tui.commands import bindings
from cm_tui.tui.messages import OpenPath
from cm_tui.tui.screens.answers import number_in, span_in, target_file, write_whole
from cm_tui.tui.screens.base import ModeScreen
from cm_tui.tui.screens.confirm import ConfirmScreen
from cm_tui.tui.screens.copying import copy_and_tell
from cm_tui.tui.screens.pack_commands import PACK_COMMANDS, STEP
from cm_tui.tui.widgets.dialogs import Prompt
from cm_tui.tui.widgets.packlist import BudgetBar, PackList, PackRow
from cm_tui.tui.widgets.text import count, one_line

DEFAULT_BUDGET = 4000
_UNDO = 100


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
        self.budget = DEFAULT_BUDGET
        self.question = ""
        self.undone: list[tuple[tuple[PackRequest, ...], str]] = []
        self._seen_status: object = None

    def compose_body(self) -> Iterable[Widget]:
        """Budget above; pieces and preview below."""
        yield BudgetBar(id="pack-budget")
        yield Static(id="pack-question", markup=False)
        with Container(id="pack-body"):
            with Vertical(id="pack-panel", classes="panel") as panel:
                panel.border_title = Content("Pieces")
                yield PackList(id="pack-list", empty="")
                yield Static(id="pack-notes", markup=False)
            with Vertical(id="pack-preview-panel", classes="panel") as panel:
                panel.border_title = Content("Markdown")
                yield TextArea(id="pack-preview", read_only=True, soft_wrap=True, show_cursor=False)

    def on_mount(self) -> None:
        """Take up budget and question of the last run."""
        kept = self.cm.state.of(self.MODE)
        budget, question = kept.get("budget"), kept.get("question")
        self.budget = budget if isinstance(budget, int) and budget > 0 else DEFAULT_BUDGET
        self.question = question if isinstance(question, str) else ""
        self.pieces.focus()
        super().on_mount()
        self.basket_changed()

    def keep(self) -> None:
        """Budget and question; the pieces are kept by the application."""
        state = self.cm.state.of(self.MODE)
        state["budget"], state["question"] = self.budget, self.question

    @property
    def pieces(self) -> PackList:
        """The pieces."""
        return self.query_one("#pack-list", PackList)

    # --- what is in the pack ---

    def project_changed(self) -> None:
        """Count again when the index has news."""
        if self._seen_status is not self.cm.project.status:
            self._seen_status = self.cm.project.status
            self.basket_changed()

    def basket_changed(self) -> None:
        """Show what was chosen at once, then count it."""
        self._show_rows()
        items, budget, question = self.cm.basket.items, self.budget, self.question
        if self.cm.project.door != "open":
            self.pieces.set_rows(
                self.pieces.rows, cursor=self.pieces.cursor, empty=self.cm.project.why_not_searchable or ""
            )
            return
        self.ask(
            "build", lambda door: door.pack_items(items, budget=budget, question=question), self._built, self._failed
        )

    def _built(self, pack: Pack) -> None:
        self.pack = pack
        self._show_rows()
        wanted = sum(item.tokens for item in pack.items)
        self.query_one(BudgetBar).show(pack.tokens, max(pack.tokens, wanted), self.budget)
        preview = self.query_one("#pack-preview", TextArea)
        if preview.text != pack.markdown:
            preview.load_text(pack.markdown)
        panel = self.query_one("#pack-preview-panel")
        lines = pack.markdown.count("\n") + 1 if pack.markdown else 0
        panel.border_subtitle = Content(f"{count(lines, 'line')} · about {pack.tokens:,} tokens" if lines else "")
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
        items = self.cm.basket.items
        counted = self.pack.items if self.pack and len(self.pack.items) == len(items) else ()
        rows = []
        for index, request in enumerate(items):
            item = counted[index] if counted and counted[index].path == request.path else None
            rows.append(PackRow(index + 1, request, item, self.budget))
        self.pieces.set_rows(
            rows,
            cursor=self.pieces.cursor,
            empty="Nothing is collected yet. Press a on a hit in Search or on a symbol in Symbols, "
            "or press / here and ask a question.",
        )
        panel = self.query_one("#pack-panel")
        if not items:
            panel.border_title = Content("Pieces")
        inside = sum(item.included for item in counted)
        panel.border_subtitle = Content(
            ""
            if not items
            else f"{inside} of {len(items)} fit"
            if counted and inside < len(items)
            else count(len(items), "piece")
        )
        question = self.query_one("#pack-question", Static)
        question.update(
            Content.assemble(("Question  ", "$foreground 50%"), one_line(self.question)) if self.question else ""
        )
        question.display = bool(self.question)
        if not items:
            self.query_one(BudgetBar).show(0, 0, self.budget)

    # --- changes ---

    def change(self, items: Iterable[PackRequest], *, question: str | None = None, cursor: int | None = None) -> None:
        """Put other pieces in place of these; undo brings them back."""
        self.undone = [*self.undone, (self.cm.basket.items, self.question)][-_UNDO:]
        if question is not None:
            self.question, self.pack = question, None
        if cursor is not None:
            self.pieces.set_reactive(PackList.cursor, cursor)
        self.keep()
        self.cm.basket.replace(items)

    def undo(self) -> None:
        """Take the last change back."""
        items, self.question = self.undone.pop()
        self.cm.basket.replace(items)
        self.cm.tell(f"Back to {count(len(items), 'piece')}.", timeout=2)

    def drop(self) -> None:
        """Take the piece under the cursor out."""
        items, index = list(self.cm.basket.items), self.pieces.cursor
        del items[index]
        self.change(items, cursor=max(0, min(index, len(items) - 1)))

    def clear(self) -> None:
        """Take everything out; undo brings it back."""
        self.change((), question="")
        self.cm.tell("The pack is empty; u brings it back.", timeout=3)

    def move_up(self) -> None:
        """Earlier."""
        self._move(-1)

    def move_down(self) -> None:
        """Later."""
        self._move(1)

    def _move(self, by: int) -> None:
        items, index = list(self.cm.basket.items), self.pieces.cursor
        other = index + by
        if 0 <= other < len(items):
            items[index], items[other] = items[other], items[index]
            self.change(items, cursor=other)

    def lengthen(self) -> None:
        """More lines at each end."""
        self._resize(STEP)

    def shorten(self) -> None:
        """Fewer lines at each end."""
        self._resize(-STEP)

    def _resize(self, by: int) -> None:
        request = self._current()
        start, end = max(1, request.start_line - by), request.end_line + by
        if start > end:
            start = end = (request.start_line + request.end_line) // 2
        self._set_lines(start, end)

    def _set_lines(self, start: int, end: int) -> None:
        items = list(self.cm.basket.items)
        items[self.pieces.cursor] = replace(items[self.pieces.cursor], start_line=start, end_line=end)
        self.change(items)

    def _current(self) -> PackRequest:
        """The piece under the cursor, with the lines that it really has once they were counted."""
        request = self.cm.basket.items[self.pieces.cursor]
        row = self.pieces.current
        if row is not None and row.request == request and row.item is not None and row.item.text:
            return replace(request, start_line=row.item.start_line, end_line=row.item.end_line)
        return request

    def edit_lines(self) -> None:
        """Ask for first and last line."""
        request = self._current()

        def done(answer: str | None) -> None:
            if answer is not None and (span := span_in(answer)):
                self._set_lines(*span)

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
                self.budget = number_in(answer) or self.budget
                self.keep()
                self.cm.remember()
                self.basket_changed()

        def check(text: str) -> str | None:
            return None if number_in(text) else "Give a number, such as 4000 or 8k."

        self.app.push_screen(
            Prompt("Budget in tokens", str(self.budget), "An estimate: see the guide on packs.", check), done
        )

    def edit_question(self) -> None:
        """Ask for the question that stands first."""

        def done(answer: str | None) -> None:
            if answer is not None:
                self.change(self.cm.basket.items, question=answer.strip())

        self.app.push_screen(Prompt("Question", self.question, "Stands first in the Markdown; may be empty."), done)

    def ask_question(self) -> None:
        """Ask for a question and choose what answers it."""

        def done(answer: str | None) -> None:
            if answer and answer.strip():
                self._automatic(answer.strip())

        hint = "The best pieces for it take the place of these; u brings these back."
        self.app.push_screen(Prompt("Ask", self.question, hint), done)

    def _automatic(self, question: str) -> None:
        budget = self.budget
        self._say("Choosing…")

        def got(pack: Pack) -> None:
            chosen = [
                PackRequest(item.path, item.start_line, item.end_line, item.title, item.why)
                for item in pack.items
                if item.included
            ]
            if chosen:
                self.change(chosen, question=question, cursor=0)
                if pack.notes:
                    self.cm.tell(" ".join(pack.notes), timeout=8)
            else:
                self._say(" ".join(pack.notes) or "Nothing was found for this question.", wrong=True)

        self.ask("auto", lambda door: door.pack(question, budget=budget), got, self._failed)

    def add_neighbours(self) -> None:
        """Callers, callees and used types of the piece under the cursor, after it."""
        index, request = self.pieces.cursor, self._current()

        def got(found: tuple[PackRequest, ...]) -> None:
            items = list(self.cm.basket.items)
            new = [item for item in found if item not in self.cm.basket]
            if not new:
                self.cm.tell("It has no neighbours that are not in the pack.", timeout=3)
                return
            self.change([*items[: index + 1], *new, *items[index + 1 :]])
            self.cm.tell(f"Added {count(len(new), 'neighbour')}; u takes them out.", timeout=3)

        self.ask("neighbours", lambda door: door.neighbours([request]), got)

    # --- taking it away ---

    def copy_pack(self) -> None:
        """The Markdown to the clipboard."""
        assert self.pack is not None
        copy_and_tell(self, self.pack.markdown, f"Pack of about {self.pack.tokens:,} tokens.")

    def save_pack(self) -> None:
        """Ask for a file and write the Markdown there; a file that exists is only replaced when told so."""
        kept = self.cm.state.of(self.MODE).get("file")

        def done(answer: str | None) -> None:
            if answer is None:
                return
            file = target_file(self.cm.root, answer)
            self.cm.state.of(self.MODE)["file"] = answer.strip()
            if file.exists():
                text = f"{file} exists. Replace what is in it?"
                self.app.push_screen(ConfirmScreen(text, "Replace it"), lambda yes: self._write(file) if yes else None)
            else:
                self._write(file)

        hint = "A path; relative ones start at the project's root."
        self.app.push_screen(
            Prompt("Save the pack", kept if isinstance(kept, str) else "pack.md", hint, self._check_file), done
        )

    def _check_file(self, answer: str) -> str | None:
        if not answer.strip():
            return "Give the path of a file."
        file = target_file(self.cm.root, answer)
        if file.is_dir():
            return f"{file} is a folder."
        return None if file.parent.is_dir() else f"There is no folder {file.parent}."

    def _write(self, file: Path) -> None:
        if self.pack is None:
            return
        text = self.pack.markdown + "\n"

        def work() -> str:
            try:
                write_whole(file, text)
            except OSError as error:
                return f"! {file} could not be written: {error.strerror or error}"
            return f"Saved to {file}"

        def done(words: str) -> None:
            self.cm.tell(words.removeprefix("! "), severity="error" if words.startswith("! ") else "information")

        self.cm.gateway.work(work, done, topic="pack.save")

    # --- moving about ---

    @on(PackList.Chosen, "#pack-list")
    def _open(self, event: PackList.Chosen) -> None:
        row: PackRow = event.row
        self.post_message(OpenPath(row.request.path, row.request.start_line))

    @on(PackList.Highlighted, "#pack-list")
    def _scroll_preview(self, event: PackList.Highlighted) -> None:
        row: PackRow = event.row
        why = f" · {one_line(row.request.why)}" if row.request.why else ""
        self.query_one("#pack-panel").border_title = Content(f"Pieces{why}")
        if row.item is None or not row.item.included:
            return
        preview = self.query_one("#pack-preview", TextArea)
        place = f"{row.item.path}:{row.item.start_line}-{row.item.end_line}`"
        lines = preview.text.split("\n")
        line = next((index for index, text in enumerate(lines) if text.startswith("### ") and place in text), None)
        if line is not None:
            preview.scroll_to(0, preview.wrapped_document.location_to_offset((line, 0)).y, animate=False)

    def action_to_list(self) -> None:
        """Back to the pieces."""
        self.pieces.focus()
