"""Symbols: a lazy tree with fuzzy jump, and for a symbol its source and everything tied to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.model import PackRequest
from cm_tui.tui.modes.history.lifeline import LifeLine
from cm_tui.tui.modes.symbols.code_tree import CodeTree
from cm_tui.tui.modes.symbols.commands import SYMBOLS_COMMANDS
from cm_tui.tui.modes.symbols.relation_panel import RelationPanel
from cm_tui.tui.modes.symbols.relations_loader import DEPTHS, RelationsLoader
from cm_tui.tui.modes.symbols.symbol_view import SymbolPlace, SymbolView, look, request_at
from cm_tui.tui.modes.symbols.texts import head_text
from cm_tui.tui.modes.symbols.tree_panel import TreePanel
from cm_tui.tui.screens.commands import bindings
from cm_tui.tui.screens.copy_text import copy_and_tell
from cm_tui.tui.screens.messages import AddToPack, OpenPath, OpenSymbol, OpenSymbolHistory
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.state.navigation import Navigation
from cm_tui.tui.state.revision import SHORT_SHA
from cm_tui.tui.widgets.code_nodes import Node
from cm_tui.tui.widgets.relations import Relation, RelationList
from cm_tui.tui.widgets.sourcelist import SourceList
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import one_line

_NEVER = object()


class SymbolsScreen(ModeScreen):
    """Browse symbols and who calls whom."""

    MODE = "symbols"
    SHOWS_REVISION = True
    INTRO = (
        "Folders, files and symbols on the left; type / to find a symbol by a few of its letters. For the symbol under "
        "the cursor: its source, its definitions, callers, callees, and the imports of its file. Enter jumps to any "
        "row, [ and ] go back and forth. Rows in yellow are ambiguous: space shows all that may be meant."
    )
    ZOOMS = ("source-panel", "tree-panel", "relations-panel")
    COMMANDS_HERE = SYMBOLS_COMMANDS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(SYMBOLS_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_tree", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.navigation: Navigation[SymbolPlace] = Navigation()
        self.view: SymbolView | None = None
        self._seen_status: object = _NEVER

    def compose_body(self) -> Iterable[Widget]:
        """Tree on the left; head, source and relations on the right."""
        with Split(id="symbols-body"):
            yield TreePanel(self.ask, self.drop_question, id="tree-panel")
            with Container(id="symbol-detail"):
                with Vertical(id="symbol-top"):
                    yield Static(id="symbol-head", markup=False)
                    yield LifeLine(self.ask, self.drop_question, id="symbol-life")
                with Vertical(id="source-panel", classes="panel") as panel:
                    panel.border_title = Content("Source")
                    yield SourceList(id="source", empty="Choose a symbol on the left, or type / to find one.")
                yield RelationPanel(id="relations-panel")

    def on_mount(self) -> None:
        """Take up what the last run left."""
        kept = self.cm.state.of(self.MODE)
        self.relations_loader = RelationsLoader(self.relations, self.ask, self.drop_question)
        self.finder.at = self.relations_loader.at = self.cm.revision.at
        self.relations_loader.depth = kept["depth"] if kept.get("depth") in DEPTHS else 1
        path, line = kept.get("path"), kept.get("line")
        if isinstance(path, str) and path and isinstance(line, int):
            self.navigation.look(SymbolPlace(path, line, find=bool(kept.get("symbol"))))
        self.code_tree.focus()
        super().on_mount()

    def keep(self) -> None:
        """The place and the depth."""
        super().keep()
        state = self.cm.state.of(self.MODE)
        state["depth"] = self.relations_loader.depth
        if self.view is not None:
            symbol = self.view.symbol
            state["path"] = self.view.place.path
            state["line"] = symbol.start_line if symbol else self.view.place.line
            state["symbol"] = symbol is not None

    # --- parts ---

    @property
    def place(self) -> SymbolPlace | None:
        """What is shown, or on its way."""
        return self.navigation.here

    @property
    def finder(self) -> TreePanel:
        """Tree and filter."""
        return self.query_one("#tree-panel", TreePanel)

    @property
    def code_tree(self) -> CodeTree:
        """The tree."""
        return self.finder.tree_list

    @property
    def code(self) -> SourceList:
        """The source."""
        return self.query_one("#source", SourceList)

    @property
    def relations(self) -> RelationPanel:
        """Definitions, callers, callees, imports, importers."""
        return self.query_one("#relations-panel", RelationPanel)

    @property
    def relation_list(self) -> RelationList:
        """The rows of the active tab."""
        return self.relations.rows

    # --- the tree ---

    def project_changed(self) -> None:
        """Read the files again when the index has news."""
        if reason := self.cm.project.why_not_searchable:
            self.finder.say(reason)
        elif self._seen_status is not self.cm.project.status:
            self._seen_status = self.cm.project.status
            self.finder.refill()

    @on(TreePanel.Filled)
    def _look_again(self) -> None:
        if self.place is not None:
            self.code_tree.reveal(self.place.path)
            self._go(self.place, record=False)

    def jump(self) -> None:
        """Type to find."""
        self.unzoom()
        self.finder.letters.focus()

    def action_into_tree(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.finder.letters:
            self.code_tree.focus()

    def action_escape(self) -> None:
        """Leave zoom, then the filter."""
        if self.has_class("-zoomed"):
            self.unzoom()
        else:
            self.finder.clear()

    @on(CodeTree.Visited)
    def _preview(self, event: CodeTree.Visited) -> None:
        place = _place_of(event.node)
        if place is not None:
            self._go(place, record=False)

    @on(CodeTree.Chosen, "#tree")
    def _choose(self, event: CodeTree.Chosen) -> None:
        node: Node = event.row
        if node.folder:
            self.code_tree.toggle(node)
            return
        if node.file is not None and node.symbol is None:
            self.code_tree.toggle(node)
        place = _place_of(node)
        if place is not None:
            self._go(place)
            if node.symbol is not None:
                self.code.focus()

    def revision_changed(self) -> None:
        """Show everything as it is at another moment."""
        self.finder.at = self.relations_loader.at = self.cm.revision.at
        if self.cm.project.why_not_searchable is None:
            self.finder.travel(self.cm.revision.at)
            if self.place is not None:
                self._go(self.place, record=False)

    # --- places ---

    def open_symbol(self, message: OpenSymbol) -> None:
        """Another mode sends the person here."""
        line = message.line if message.key is None else 0
        self._go(SymbolPlace(message.path, line, message.key, find=True))
        self.code.focus()

    def open_path(self, message: OpenPath) -> None:
        """Another mode shows a file here."""
        self._go(SymbolPlace(message.path, message.line))
        self.code.focus()

    def _go(self, place: SymbolPlace, *, record: bool = True) -> None:
        if record:
            self.navigation.go(place)
        else:
            self.navigation.look(place)
        at = self.cm.revision.at
        if self.cm.project.why_not_searchable is None:
            self.ask("view", lambda engine: look(engine, place, at), self._show, self._cannot_show)
        self.refresh_keys()

    def back(self) -> None:
        """Where the person was before."""
        self._go(self.navigation.back(), record=False)

    def forward(self) -> None:
        """Where the person was after."""
        self._go(self.navigation.forward(), record=False)

    def _cannot_show(self, error: CmError) -> None:
        self.view = None
        self.query_one("#symbol-head", Static).update(Content(""))
        self.code.set_rows((), empty=f"{error.message} {error.hint}")
        self.relations.forget()
        self.query_one(LifeLine).show(None)

    def _show(self, view: SymbolView) -> None:
        again = self.view is not None and self.view.place == view.place
        self.view = view
        self.query_one("#symbol-head", Static).update(head_text(view))
        source = self.query_one("#source-panel")
        source.border_title = Content(one_line(view.place.path))
        notes = [view.note] if view.note else []
        if view.stale:
            notes.append("changed since it was indexed")
        source.border_subtitle = Content(" · ".join(notes))
        self.code.set_rows(view.lines, cursor=self.code.cursor if again else 0, empty="This file is empty.")
        if view.place.line and not again:
            self.code.go(view.place.line)
        self.relations_loader.show(view, again=again)
        here = self.cm.revision.moment
        key = view.symbol.key if view.symbol else None
        self.query_one(LifeLine).show(key, here.ordinal if here else 0, again=again)
        self.remember()
        self.refresh_keys()
        if self.focused is not self.code_tree and not self.code_tree.query_text:
            self.code_tree.reveal(view.place.path)

    # --- relations ---

    def deeper(self) -> None:
        """1, 2, 3 and round again."""
        self.relations_loader.deeper()

    def next_tab(self) -> None:
        """The tab to the right, from anywhere."""
        self.relations.action_turn(1)

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
        self._go(_place_of_relation(row))

    def show_life(self) -> None:
        """The life of the symbol, in the history mode."""
        if self.view and self.view.symbol:
            self.post_message(OpenSymbolHistory(self.view.symbol.key))

    # --- what to do with a place ---

    def target(self) -> SymbolPlace | None:
        """What a command is about: the row, the node or the line under the cursor; else what is shown."""
        if self.focused is self.relation_list and (row := self.relation_list.current) is not None:
            return _place_of_relation(row) if row.path else None
        if self.focused is self.code_tree and (node := self.code_tree.current) is not None:
            return _place_of(node) or self.place
        view, line = self.view, self.code.current
        if view is None:
            return self.place
        at = line.number if line else view.place.line
        return SymbolPlace(view.place.path, at, view.symbol.key if view.symbol else None)

    def add(self) -> None:
        """Into the pack."""
        target = self.target()
        if target is None:
            self.cm.tell("That is outside the project.", severity="warning")
            return

        def got(request: PackRequest) -> None:
            self.post_message(AddToPack(request))

        self.ask("add", lambda engine: request_at(engine, target), got)

    def copy_place(self) -> None:
        """`path:line` to the clipboard."""
        target = self.target()
        if target is None:
            return
        moment = self.cm.revision.moment
        when = f" at {moment.sha[:SHORT_SHA]}" if moment else ""
        place = f"{target.path}:{self._line_of(target)}{when}"
        copy_and_tell(self, place, place)

    def edit(self) -> None:
        """In the person's editor; the index is brought up to date afterwards."""
        target = self.target()
        if target is None:
            return
        self.cm.edit(target.path, self._line_of(target))

    def _line_of(self, target: SymbolPlace) -> int:
        return target.line or (self.view.symbol.start_line if self.view and self.view.symbol else 1)


def _place_of(node: Node | None) -> SymbolPlace | None:
    if node is None or node.folder:
        return None
    return SymbolPlace(node.path, 0, node.symbol.key) if node.symbol else SymbolPlace(node.path)


def _place_of_relation(row: Relation) -> SymbolPlace:
    return SymbolPlace(row.path, row.line, None if row.line else row.key, find=True)
