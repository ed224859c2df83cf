"""Symbols: a lazy tree with fuzzy jump, and for a symbol its source and everything tied to it."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from cm_tui.tui.modes.symbols.code_tree import CodeTree, place_of_node, place_of_relation
from cm_tui.tui.modes.symbols.commands import SYMBOLS_COMMANDS
from cm_tui.tui.modes.symbols.relation_panel import RelationPanel
from cm_tui.tui.modes.symbols.view import SymbolsView
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.messages import OpenPath, OpenSymbol
from cm_tui.tui.screens.symbol_content import SymbolPlace
from cm_tui.tui.widgets.code_nodes import Node
from cm_tui.tui.widgets.relations import Relation, RelationList


class SymbolsScreen(SymbolsView):
    """Browse symbols, callers and callees."""

    MODE = "symbols"
    SHOWS_REVISION = True
    INTRO = (
        "Folders, files and symbols on the left; type / to find a symbol by a few of its letters. For the symbol under "
        "the cursor: its source, its definitions, callers, callees, and the imports of its file. Enter jumps to any "
        "row, [ and ] go back and forth. Rows in yellow are ambiguous: space shows all that may be meant."
    )
    ZOOMS = ("source-panel", "tree-panel", "relations-panel")
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(SYMBOLS_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_tree", show=False),
    ]

    def mode_commands(self) -> tuple[Command[SymbolsView], ...]:
        """Everything that the symbols mode can do."""
        return SYMBOLS_COMMANDS

    _back = ""
    """The mode that led here, which Escape leads back to."""

    # --- what other modes ask for ---

    def open_symbol(self, message: OpenSymbol) -> None:
        """Another mode sends the person here."""
        line = message.line if message.key is None else 0
        self.go(SymbolPlace(message.path, line, message.key, find=True))
        self.code.focus()

    def open_path(self, message: OpenPath) -> None:
        """Another mode shows a file here."""
        self._back = message.back
        self.go(SymbolPlace(message.path, message.line))
        self.code.focus()

    @on(events.ScreenSuspend)
    def _went_elsewhere(self) -> None:
        """Escape leads back only until the person goes elsewhere; a dialog above is not elsewhere."""
        if self.app.current_mode != self.MODE:
            self._back = ""

    # --- the tree ---

    def action_into_tree(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.finder.filter_input:
            self.code_tree.focus()

    def action_escape(self) -> None:
        """Leave zoom, then for the mode that led here, then the filter."""
        if self.has_class("-zoomed"):
            self.unzoom()
        elif self._back and not self.finder.has_focus_within:
            self.cm.go(self._back)
        else:
            self.finder.clear()

    @on(CodeTree.Visited)
    def _preview(self, event: CodeTree.Visited) -> None:
        place = place_of_node(event.node)
        if place is not None:
            self.go(place, record=False)

    @on(CodeTree.Chosen, "#tree")
    def _choose(self, event: CodeTree.Chosen) -> None:
        node: Node = event.row
        if node.folder:
            self.code_tree.toggle(node)
            return
        if node.file is not None and node.symbol is None:
            self.code_tree.toggle(node)
        place = place_of_node(node)
        if place is not None:
            self.go(place)
            if node.symbol is not None:
                self.code.focus()

    # --- relations ---

    @on(RelationPanel.LineRequested)
    def _read_line(self, event: RelationPanel.LineRequested) -> None:
        self.relations_loader.read_line(event.row)

    @on(RelationList.Chosen, "#relations")
    def _jump_to(self, event: RelationList.Chosen) -> None:
        row: Relation = event.row
        if not row.path:
            if row.candidates:
                self.relation_list.action_flip()
            else:
                self.cm.tell(f"{row.name} is not in this project.", severity="warning")
            return
        self.go(place_of_relation(row))
