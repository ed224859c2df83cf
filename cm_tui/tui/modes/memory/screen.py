"""Memory: what people and agents wrote down, entries and notes side by side, and what becomes of them."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widgets import Input

from cm_tui.tui.modes.memory.commands import MEMORY_COMMANDS, read
from cm_tui.tui.modes.memory.item_list import HitList, ItemList
from cm_tui.tui.modes.memory.item_panel import ItemPanel
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.list_mode import TYPING
from cm_tui.tui.screens.named_code import open_names
from cm_tui.tui.widgets.prose import ProseList


class MemoryScreen(MemoryView):
    """What was written down."""

    MODE = "memory"
    INTRO = (
        "Entries are rules, knowledge and experience; notes are Markdown files: daily logs, topics, long-term memory. "
        "Search, packs and agents find both. / filters, s searches by meaning. Requests by agents are on top until you "
        "accept or decline them. u undoes your last change."
    )
    ZOOMS = ("item-panel", "memory-list-panel")
    BINDINGS: ClassVar[list[BindingType]] = bindings(MEMORY_COMMANDS)

    def mode_commands(self) -> tuple[Command[MemoryView], ...]:
        """Everything that the memory mode can do."""
        return MEMORY_COMMANDS

    # --- the list ---

    @on(ItemList.Highlighted, "#memory-list")
    def _came_to(self, event: ItemList.Highlighted) -> None:
        event.stop()
        if self.items.item is not None and not self.is_asking:
            self.panel.show(self.items.item)
        self.refresh_keys()

    # --- a question ---

    @on(Input.Changed, "#memory-question")
    def _asked(self, event: Input.Changed) -> None:
        event.stop()
        self.question.ask(self.question_input.value.strip(), delay=TYPING)

    @on(HitList.Highlighted, "#memory-hits")
    def _came_to_hit(self, event: HitList.Highlighted) -> None:
        event.stop()
        hit = self.hits.current
        if self.is_asking and hit is not None:
            self.panel.show_hit(hit)
            self.explain(hit)

    @on(HitList.Chosen, "#memory-hits")
    def _enter_hit(self, event: HitList.Chosen) -> None:
        event.stop()
        read(self)

    @on(ItemList.Chosen, "#memory-list")
    def _enter(self, event: ItemList.Chosen) -> None:
        event.stop()
        read(self)

    @on(ProseList.Chosen, "#item-text")
    def _open_code(self, event: ProseList.Chosen) -> None:
        """Open the code that the line under the cursor names."""
        event.stop()
        open_names(self, self.panel.names)

    @on(ItemList.Wanted)
    def _rows_wanted(self, event: ItemList.Wanted) -> None:
        event.stop()
        self.stock.read_on(event.group.key, self.items.read_of(event.group, event.many))

    @on(ItemPanel.Shown)
    def _shown(self, event: ItemPanel.Shown) -> None:
        event.stop()
        self.refresh_keys()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Where there is room for one of the two, the one with the focus is on screen."""
        self.set_class(event.widget is self.panel.prose, "-in-text")
