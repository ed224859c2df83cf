"""What the pack mode shows: the pieces, what they cost, and the Markdown that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.engine.api.authors import Author, author_of
from cm_tui.errors import CmError
from cm_tui.model import Pack, PackRequest
from cm_tui.tui.modes.pack.pack_list import BudgetBar, PackDraft, PackList, PackRow
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.state.authors import is_remembered
from cm_tui.tui.theme.highlight import highlighted_lines
from cm_tui.tui.widgets.sourcelist import CodeLine, SourceList
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import count, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

NO_PIECES = (
    "Nothing is collected yet. Press a on a hit in Search or on a symbol in Symbols, "
    "or press / here and ask a question."
)
NO_MARKDOWN = "What goes into the chat is shown here."


class PackView(ModeScreen):
    """Budget above; pieces and preview below."""

    def __init__(self) -> None:
        super().__init__()
        self.pack: Pack | None = None
        self.authors: dict[str, Author | None] = {}
        """Who wrote what is remembered, by path, as far as that is known."""
        self.draft = PackDraft(self.cm.pack_selection)
        self._seen_status: object = None
        self._piece: PackRequest | None = None
        """The piece under the cursor."""

    def compose_body(self) -> Iterable[Widget]:
        """Budget above; pieces and preview below."""
        yield BudgetBar(id="pack-budget")
        yield Static(id="pack-question", markup=False)
        with Split(id="pack-body"):
            with Vertical(id="pack-panel", classes="panel") as panel:
                panel.border_title = Content("Pack")
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
            self.cm.pack_selection.question = question
        self.pieces.focus()
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
        """Show the selection at once, then count it; the cursor stays on its piece."""
        if not self.draft.was_own() and self._piece in self.draft.items:
            self.pieces.put_cursor(self.draft.items.index(self._piece))
        self._show_rows()
        items, budget, question = self.draft.items, self.draft.budget, self.draft.question
        if self.cm.project.engine == "open":
            known = self.authors
            self.ask("build", lambda engine: _build(engine, items, budget, question, known), self._built, self.failed)

    def _built(self, built: tuple[Pack, list[CodeLine], dict[str, Author | None]]) -> None:
        self.pack, lines, self.authors = built
        pack = self.pack
        self._show_rows()
        chosen = sum(item.tokens for item in pack.items)
        self.query_one(BudgetBar).show(pack.tokens, max(pack.tokens, chosen), self.draft.budget)
        preview = self.query_one("#pack-preview", SourceList)
        preview.set_rows(lines, cursor=preview.cursor)
        self._show_piece()
        panel = self.query_one("#pack-preview-panel")
        panel.border_subtitle = Content(f"{count(len(lines), 'line')} · about {pack.tokens:,} tokens" if lines else "")
        self.say(" ".join(pack.notes), wrong=any(not item.included for item in pack.items))
        self.refresh_keys()

    def failed(self, error: CmError) -> None:
        """Say why there is no pack."""
        self.pack = None
        self.say(str(error), wrong=True)
        self.refresh_keys()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say something below the pieces."""
        notes = self.query_one("#pack-notes", Static)
        notes.update(Content(text))
        notes.set_class(wrong, "-warning")
        notes.display = bool(text)

    def _show_rows(self) -> None:
        items, budget = self.draft.items, self.draft.budget
        counted = self.pack.items if self.pack and len(self.pack.items) == len(items) else ()
        rows = []
        for index, request in enumerate(items):
            item = counted[index] if counted and counted[index].path == request.path else None
            rows.append(PackRow(index + 1, request, item, budget, self.authors.get(request.path)))
        empty = NO_PIECES if self.cm.project.engine == "open" else self.cm.project.why_not_searchable or ""
        self.pieces.set_rows(rows, cursor=self.pieces.cursor, empty=empty)
        panel = self.query_one("#pack-panel")
        inside = sum(item.included for item in counted)
        some = f"{inside} of {len(items)} fit" if counted and inside < len(items) else count(len(items), "piece")
        panel.border_subtitle = Content(some if items else "")
        if not items:
            panel.border_title = Content("Pack")
            self.query_one(BudgetBar).show(0, 0, budget)
        self._show_question()

    def _show_question(self) -> None:
        question = self.draft.question
        above = self.query_one("#pack-question", Static)
        above.update(Content.assemble(("Question  ", "$muted"), one_line(question)))
        above.display = bool(question)

    @property
    def current(self) -> PackRequest:
        """The piece under the cursor, with the lines that it really has once they were counted."""
        request = self.draft.items[self.pieces.cursor]
        row = self.pieces.current
        if row is not None and row.request == request and row.item is not None and row.item.text:
            return replace(request, start_line=row.item.start_line, end_line=row.item.end_line)
        return request

    @on(PackList.Highlighted, "#pack-list")
    def _show_piece(self) -> None:
        """Say why the piece under the cursor is here, and bring it on screen in the Markdown."""
        row = self.pieces.current
        self._piece = row.request if row else None
        if row is None:
            return
        why = f" · {one_line(row.request.why)}" if row.request.why else ""
        self.query_one("#pack-panel").border_title = Content(f"Pack{why}")
        if row.item is None or not row.item.included:
            return
        preview = self.query_one("#pack-preview", SourceList)
        place = f"{row.item.path}:{row.item.start_line}-{row.item.end_line}`"
        for line in preview.rows:
            if line.content.plain.startswith("### ") and place in line.content.plain:
                preview.mark(range(line.number, line.number + 1))
                preview.show_at_top(line.number)
                return


def _build(
    engine: Engine, items: tuple[PackRequest, ...], budget: int, question: str, known: Mapping[str, Author | None]
) -> tuple[Pack, list[CodeLine], dict[str, Author | None]]:
    """The pack, its Markdown as it is shown (colours take too long for the screen's thread), and who wrote what is remembered."""
    paths = dict.fromkeys(item.path for item in items if is_remembered(item.path))
    authors = {path: known[path] if path in known else author_of(engine, path) for path in paths}
    pack = engine.pack_items(items, budget=budget, question=question)
    # With a line break at its end, as the last block of code has no colours otherwise.
    lines = highlighted_lines(f"{pack.markdown}\n", "markdown", "pack.md")[:-1] if pack.markdown else []
    return pack, [CodeLine(number, line) for number, line in enumerate(lines, start=1)], authors
