"""What the memory mode shows: the filter, entries and notes by group, and the one under the cursor."""

from __future__ import annotations

from collections.abc import Iterable

from textual import getters
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.tui.modes.memory.groups import Item, Marks, MemoryFilter, read_line, read_marks
from cm_tui.tui.modes.memory.inventory import Inventory, InventoryWatch, ItemList, rows_of
from cm_tui.tui.modes.memory.item_panel import ItemPanel
from cm_tui.tui.screens.list_mode import ListingMode
from cm_tui.tui.tasks.ask import Repeated
from cm_tui.tui.widgets.sourcelist import ProseList
from cm_tui.tui.widgets.split import Panel, Split, Words
from cm_tui.tui.widgets.text import count, sentence

LOOK_AGAIN = 3.0
"""Seconds between checks for changed files, which send no event."""
MARKS_DELAY = 0.5
NOTHING = (
    "No entries or notes yet. n writes an entry: a rule, knowledge or experience. "
    "w appends to today's log or another note."
)


class MemoryView(ListingMode[InventoryWatch]):
    """Keeps filter, list and panel in step with each other, and with what is on disk."""

    FILTER, PROBLEM = "memory-filter", "memory-problem"

    def __init__(self) -> None:
        super().__init__()
        self.stock = InventoryWatch(Repeated("inventory", self.ask, self.show_failure, LOOK_AGAIN), self._take)
        self.pending: tuple[str, str] | None = None
        """What the cursor goes to as soon as it is listed."""

    def compose_body(self) -> Iterable[Widget]:
        """The filter above; the list at the left, what the cursor is on at the right."""
        yield Input(
            placeholder="/ words, show:notes kind:rule scope:user state:pinned", id="memory-filter", compact=True
        )
        yield Words(id="memory-problem")
        with Split(id="memory-body"):
            yield Panel(ItemList(empty="Reading…", id="memory-list"), id="memory-list-panel", title="Memory")
            yield ItemPanel(id="item-panel")

    def on_mount(self) -> None:
        """Look again and again: what is written outside of cm sends no event."""
        self.panel.doubles_of = lambda entry: self.items.marks.doubles.get(entry.id, ())
        self.set_interval(LOOK_AGAIN, self.poll)

    # --- parts ---

    @property
    def where(self) -> MemoryFilter:
        """What the line of the filter asks for."""
        return self.stock.where

    items = getters.query_one(ItemList)
    panel = getters.query_one(ItemPanel)

    @property
    def item(self) -> Item | None:
        """The entry or note that commands are about."""
        return self.items.item

    list_shown = items
    stock_list = items
    text_shown = getters.query_one(ProseList)

    # --- asking ---

    def read_line(self, text: str) -> tuple[MemoryFilter, str]:
        """Parse a filter line."""
        return read_line(text)

    def look(self, *, at_once: bool) -> None:
        """Ask whether something was written meanwhile."""
        self.stock.look(at_once=at_once)

    def index_changed(self) -> None:
        """Request the rows, and what they are marked with."""
        if self.stock.found is not None:
            self._read_marks()
        self.reload()

    def open_item(self, kind: str, name: str) -> None:
        """Show what another mode leads to, whatever was filtered before."""
        self.pending = (kind, name)
        self.fill_filter("")
        self.refresh_rows()
        if self.stock.found is not None:
            self._reach_pending(self.stock.found)

    def _reach_pending(self, found: Inventory) -> None:
        """Put the cursor on what another mode leads to; read on where it is not among the rows that were read."""
        if self.pending is None:
            return
        place = self.items.place_of(self.pending)
        if place is not None:
            self.items.cursor, self.pending = place, None
            return
        of = "notes" if self.pending[0] == "note" else "entries"
        unread = (page for page in found.pages if page.group.of == of and len(page.items) < page.total)
        if (page := next(unread, None)) is not None:
            self.stock.read_on(page.group.key, len(page.items))

    def show_result(self, words: str, *, undoable: bool) -> None:
        """Report what was done, and show the new state."""
        self.cm.tell(f"{sentence(words)}{'; u undoes it' if undoable else ''}.")
        self.reload()

    # --- showing ---

    def _take(self, found: Inventory) -> None:
        rows = rows_of(found)
        self.items.refill(rows, empty=self.no_matches or NOTHING, at=self.pending)
        self._reach_pending(found)
        if not rows:
            self.panel.clear("" if self.no_matches else self.INTRO)
        self.say_notes()
        self._title(found)
        self._read_marks()
        self.refresh_keys()

    def _read_marks(self) -> None:
        """Ask what rows are marked with; that compares every entry with every other, so it is not asked too often."""

        def got(marks: Marks) -> None:
            if marks != self.items.marks:
                self.items.marks = marks
                self.items.redraw()
                self.panel.again()
                self.refresh_keys()

        self.ask("marks", read_marks, got, lambda _: None, delay=MARKS_DELAY)

    def _title(self, found: Inventory) -> None:
        words = []
        if self.where.show != "notes":
            words.append(count(found.total("entries"), "entry", "entries"))
        if self.where.show != "entries":
            words.append(count(found.total("notes"), "note"))
        self.label("memory-list-panel", "Memory", " · ".join(words))
