"""What the pack mode shows: the pieces, what they cost, and the Markdown that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from rich.cells import cell_len
from textual import events, getters, on
from textual.content import Content
from textual.widget import Widget

from cm_tui.engine.api.authors import Author, author_of
from cm_tui.errors import CmError
from cm_tui.model import NOTES, Pack, PackItem, PackRequest
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.state.authors import is_remembered, title_of, who
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.theme.highlight import highlighted_lines
from cm_tui.tui.widgets.bars import budget_bar, cell_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import CodeLine, SourceList
from cm_tui.tui.widgets.split import FittedLine, Panel, Split, Words
from cm_tui.tui.widgets.text import count, elide_end, name_and_place, one_line

DEFAULT_BUDGET = 4000
WHOLE = "it is the whole file"


def lengthened(request: PackRequest, by: int) -> tuple[int, int]:
    """First and last line of a piece with more lines at each end, or fewer; one line is always left."""
    start, end = max(1, request.start_line - by), request.end_line + by
    if start > end:
        start = end = (request.start_line + request.end_line) // 2
    return start, end


_WIDE = 72
"""Cells from which on what is remembered has a bar too."""
_LEAST_NAME = 10
"""Cells that the name of what is remembered keeps, however much there is to say of it."""


@dataclass(frozen=True)
class PackRow:
    """A choice and what became of it; `item` is None until it was counted."""

    number: int
    request: PackRequest
    item: PackItem | None
    budget: int
    author: Author | None = None
    """Who wrote it, where it is remembered and that is known."""

    @property
    def out(self) -> bool:
        """True when it did not fit any more."""
        return self.item is not None and not self.item.included

    @property
    def is_memory(self) -> bool:
        """True when it is remembered, and no lines of a file."""
        return is_remembered(self.request.path) or (self.item is not None and bool(self.item.remembered))

    @property
    def empty(self) -> bool:
        """True when what was chosen is gone."""
        return self.item is not None and not self.item.text

    @property
    def is_whole(self) -> bool:
        """True when it is known to be all of a file: it has fewer lines than were asked for."""
        item = self.item
        return item is not None and item.start_line == 1 and bool(item.text) and item.end_line < self.request.end_line

    @property
    def tokens(self) -> str:
        """What it costs."""
        if self.item is None:
            return "…"
        return "gone" if self.empty else f"{self.item.tokens:,}"

    @property
    def share(self) -> float:
        """How much of the budget it takes."""
        return min(1.0, self.item.tokens / self.budget) if self.item is not None and self.budget else 0.0


class PackList(RowList[PackRow]):
    """Chosen pieces in order; those beyond the budget are dim."""

    def draw(self, row: PackRow, width: int) -> Content:
        """Number, place and symbol; share of the budget as a bar, and tokens."""
        # What is remembered has more to say of itself than its share of the budget.
        bar_width = 8 if width >= (_WIDE if is_remembered(row.request.path) else 50) else 0
        bar = cell_bar(row.share, bar_width)
        tail = f"{row.tokens:>7}"
        room = width - 4 - len(tail) - (bar_width + 1 if bar_width else 0) - 2
        name, where, gap = _names(row, room)
        mark = "✗" if row.empty else "⋯" if row.out else " "
        return Content.assemble(
            (f"{row.number:>2}", "$muted"), (f"{mark} ", "$error" if row.empty else "$warning"),
            (name, "$muted" if row.out else "bold"), "  ", (where, "$muted"), gap,
            (bar, "$warning on $foreground 8%" if row.out else "$primary on $foreground 8%"),
            (tail, "$warning" if row.out else "$foreground"),
        )  # fmt: skip


def _names(row: PackRow, room: int) -> tuple[str, str, str]:
    """What the piece is called, where it stands, and the blanks behind, in so many cells together."""
    request = row.request
    start, end = (row.item or request).start_line, (row.item or request).end_line
    name = one_line(request.title) or one_line(request.path.rpartition("/")[2])
    where = f"{one_line(request.path).removeprefix(f'{NOTES}/')}:{start}-{end}"
    if is_remembered(request.path):
        name, where = _remembered_names(row, room)
        return name, where, " " * max(1, room - cell_len(name) - cell_len(where))
    return name_and_place(name, where, room)


def _remembered_names(row: PackRow, room: int) -> tuple[str, str]:
    """What was asked or what the entry is called, and who wrote it when: its path says nothing to people."""
    kind, _, age = one_line(row.item.remembered if row.item is not None else "").partition(", ")
    name, author = title_of(row.author) or one_line(row.request.title) or kind, who(row.author)
    # What it is called tells pieces apart: the rest has the room that this leaves, but for the age.
    wheres = [", ".join(filter(None, parts)) for parts in ((author, age), (age or kind,))]
    least = min(cell_len(name), _LEAST_NAME)
    where = next((one for one in wheres if cell_len(one) + 2 + least <= room), wheres[-1])
    name = elide_end(name, max(6, room - cell_len(where) - 2))
    return name, elide_end(where, max(0, room - cell_len(name) - 2))


def budget_line(used: int, chosen: int, budget: int, width: int) -> Content:
    """Return how full the pack is: what is in, what did not go in any more, and the numbers."""
    over = chosen > budget
    words = f" {used:,} of {budget:,} tokens{f' · {chosen:,} chosen' if over else ''} "
    room = max(4, width - cell_len(words) - 1)
    return Content.assemble(budget_bar(used, budget, room, over=over), (words, "$warning" if over else "$soft"))


NO_PIECES = (
    "The pack is empty. Press a on a hit in Search or on a symbol in Symbols, or press / here and ask a question."
)
NO_MARKDOWN = "The Markdown for the chat is shown here."


class PackView(ModeScreen):
    """Budget above; pieces and preview below."""

    def __init__(self) -> None:
        super().__init__()
        self.pack: Pack | None = None
        self.authors: dict[str, Author | None] = {}
        """Who wrote what is remembered, by path, as far as that is known."""
        self.budget = DEFAULT_BUDGET
        self._seen: object = None
        self._piece: PackRequest | None = None
        """The piece under the cursor."""
        self.grown_from: PackRequest | None = None
        """The piece that got more lines, as it was before; how many there are is known once it is read."""

    def compose_body(self) -> Iterable[Widget]:
        """Budget above; pieces and preview below."""
        yield FittedLine(id="pack-budget")
        yield Words(id="pack-question")
        with Split(id="pack-body"):
            with Panel(id="pack-panel", title="Pack"):
                yield PackList(id="pack-list", empty="")
                yield Words(id="pack-notes")
            preview = SourceList(id="pack-preview", numbers=False, empty=NO_MARKDOWN)
            yield Panel(preview, id="pack-preview-panel", title="Markdown")

    def on_mount(self) -> None:
        """Restore budget and question of the last run."""
        budget = self.kept("budget", DEFAULT_BUDGET)
        self.budget = budget if budget > 0 else DEFAULT_BUDGET
        self.cm.pack_selection.question = self.kept("question", self.cm.pack_selection.question)
        self.pieces.focus()
        self.pack_selection_changed()

    def on_screen_resume(self, _event: events.ScreenResume) -> None:
        """Read again what is remembered: it may have been changed, forgotten or excluded in another mode."""
        if self.restored and any(row.is_memory for row in self.pieces.rows):
            self.pack_selection_changed()

    def keep(self) -> None:
        """Budget and question; the pieces are kept by the application."""
        super().keep()
        self.choices.update(budget=self.budget, question=self.cm.pack_selection.question)

    pieces = getters.query_one("#pack-list", PackList)
    preview = getters.query_one("#pack-preview", SourceList)

    @property
    def items(self) -> tuple[PackRequest, ...]:
        """The pieces, in order."""
        return self.cm.pack_selection.items

    def change(self, items: Iterable[PackRequest], cursor: int = 0, *, question: str | None = None) -> None:
        """Put other pieces in place of these, with the cursor at a place, and another question where given."""
        self._piece = None
        self.pieces.put_cursor(cursor)
        self.cm.pack_selection.change(items, question=question)

    # --- what is in the pack ---

    def project_changed(self) -> None:
        """Count again when the index has news."""
        if self._seen != self.cm.project.content:
            self._seen = self.cm.project.content
            self.pack_selection_changed()

    def pack_selection_changed(self) -> None:
        """Show the selection at once, then count it; the cursor stays on its piece."""
        if self._piece in self.items:
            self.pieces.put_cursor(self.items.index(self._piece))
        self._show_rows()
        items, budget, question = self.items, self.budget, self.cm.pack_selection.question
        if self.cm.current_mode != self.MODE:
            self._seen = None
        elif self.cm.project.engine == "open":
            known = self.authors
            self.ask("build", lambda engine: _build(engine, items, budget, question, known), self._built, self.failed)

    def _built(self, built: tuple[Pack, list[CodeLine], dict[str, Author | None]]) -> None:
        self.pack, lines, self.authors = built
        pack = self.pack
        self._show_rows()
        chosen = sum(item.tokens for item in pack.items)
        self._show_budget(pack.tokens, max(pack.tokens, chosen))
        self.preview.set_rows(lines, cursor=self.preview.cursor)
        self._show_piece()
        much = f"{count(len(lines), 'line')} · about {pack.tokens:,} tokens" if lines else ""
        self.label("pack-preview-panel", subtitle=much)
        before, self.grown_from = self.grown_from, None
        if before is not None and before == self.current:
            self.cm.refuse(f"Grow: {WHOLE}")
        self.say(" ".join(pack.notes), wrong=any(not item.included for item in pack.items))
        self.refresh_keys()

    def _show_budget(self, used: int, chosen: int) -> None:
        self.query_one(FittedLine).show(partial(budget_line, used, chosen, self.budget))

    def failed(self, error: CmError) -> None:
        """Show why there is no pack."""
        self.pack = None
        self.say(str(error), wrong=True)
        self.refresh_keys()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show words below the pieces."""
        self.show_words("pack-notes", text, wrong=wrong)

    def _show_rows(self) -> None:
        items, budget = self.items, self.budget
        counted = self.pack.items if self.pack and len(self.pack.items) == len(items) else ()
        rows = []
        for index, request in enumerate(items):
            item = counted[index] if counted and counted[index].path == request.path else None
            rows.append(PackRow(index + 1, request, item, budget, self.authors.get(request.path)))
        empty = NO_PIECES if self.cm.project.engine == "open" else self.cm.project.why_not_searchable or ""
        self.pieces.set_rows(rows, cursor=self.pieces.cursor, empty=empty)
        inside = sum(item.included for item in counted)
        some = f"{inside} of {len(items)} fit" if counted and inside < len(items) else count(len(items), "piece")
        self.label("pack-panel", None if items else "Pack", some if items else "")
        if not items:
            self._show_budget(0, 0)
        question = self.cm.pack_selection.question
        words = Content.assemble(("Question  ", "$muted"), one_line(question)) if question else ""
        self.show_words("pack-question", words)

    @property
    def current(self) -> PackRequest:
        """The piece under the cursor, with the lines that it really has once they were counted."""
        request = self.items[self.pieces.cursor]
        row = self.pieces.current
        if row is not None and row.request == request and row.item is not None and row.item.text:
            return replace(request, start_line=row.item.start_line, end_line=row.item.end_line)
        return request

    @on(PackList.Highlighted, "#pack-list")
    def _show_piece(self) -> None:
        """Show why the piece under the cursor is here, and scroll the Markdown to it."""
        row = self.pieces.current
        self._piece = row.request if row else None
        if row is None:
            return
        why = f" · {one_line(row.request.why)}" if row.request.why else ""
        self.label("pack-panel", f"Pack{why}")
        if row.item is None or not row.item.included:
            return
        place = f"{row.item.path}:{row.item.start_line}-{row.item.end_line}`"
        for line in self.preview.rows:
            if line.content.plain.startswith("### ") and place in line.content.plain:
                self.preview.mark(range(line.number, line.number + 1))
                self.preview.show_at_top(line.number)
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
