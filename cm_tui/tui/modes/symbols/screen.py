"""Symbols: a lazy tree with fuzzy jump, and for a symbol its source and everything tied to it."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on

from cm_tui.model import PackRequest, SymbolKey
from cm_tui.tui.modes.symbols.code_tree import CodeTree, place_of_node, place_of_relation
from cm_tui.tui.modes.symbols.view import SymbolsView
from cm_tui.tui.screens.app_commands import not_searchable
from cm_tui.tui.screens.commands import Command, unless, with_target
from cm_tui.tui.screens.list_mode import find
from cm_tui.tui.screens.messages import AddToPack, OpenSymbolHistory
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.screens.symbol_content import SymbolPlace, request_at
from cm_tui.tui.state.revision import SHORT_SHA
from cm_tui.tui.widgets.code_nodes import Node
from cm_tui.tui.widgets.relations import Relation, RelationList

Reason = Callable[[SymbolsView], str | None]
_nothing_shown: Reason = unless(lambda screen: screen.place, "nothing is shown yet; choose a symbol")
_no_way_back: Reason = unless(lambda screen: screen.navigation.can_go_back, "this is where you started")
_no_way_forward: Reason = unless(lambda screen: screen.navigation.can_go_forward, "nothing ahead")
_past: Reason = unless(lambda screen: not screen.cm.revision.moment, "a past revision is shown; 0 returns to now")
_no_symbol: Reason = unless(lambda screen: screen.shown and screen.shown.symbol, "no symbol is shown")
_all_resolved: Reason = unless(lambda screen: screen.relations.unresolved_count, "all calls of that name were resolved")


def show_life(screen: SymbolsView) -> None:
    """Show the life of the symbol, in the history mode."""
    if screen.shown and screen.shown.symbol:
        screen.post_message(OpenSymbolHistory(screen.shown.symbol.key))


# --- what to do with a place ---


def target_of(screen: SymbolsView) -> SymbolPlace | None:
    """Return what a command is about: the row, the node or the line under the cursor; else what is shown."""
    if screen.focused is screen.relation_list and (row := screen.relation_list.current) is not None:
        return place_of_relation(row) if row.path else None
    if screen.focused is screen.code_tree and (node := screen.code_tree.current) is not None:
        return place_of_node(node) or screen.place
    content, line = screen.shown, screen.code.current
    if content is None:
        return screen.place
    at = line.number if line else content.place.line
    return SymbolPlace(content.place.path, at, content.symbol.key if content.symbol else None)


def add_to_pack(screen: SymbolsView) -> None:
    """Put it into the pack."""
    target = target_of(screen)
    if target is None:
        screen.cm.tell("It is outside the project.", severity="warning")
        return

    def got(request: PackRequest) -> None:
        screen.post_message(AddToPack(request))

    screen.ask("add", lambda engine: request_at(engine, target), got)


def copy_place(screen: SymbolsView, target: SymbolPlace) -> None:
    """Copy `path:line` to the clipboard."""
    moment = screen.cm.revision.moment
    when = f" at {moment.sha[:SHORT_SHA]}" if moment else ""
    place = f"{target.path}:{_line_of(screen, target)}{when}"
    copy_and_report(screen, place, place)


def edit(screen: SymbolsView, target: SymbolPlace) -> None:
    """Open it in the person's editor; the index is brought up to date afterwards."""
    screen.cm.edit(target.path, _line_of(screen, target))


def _line_of(screen: SymbolsView, target: SymbolPlace) -> int:
    content = screen.shown
    return target.line or (content.symbol.start_line if content and content.symbol else 1)


SYMBOLS_COMMANDS: tuple[Command[SymbolsView], ...] = (
    Command("symbols.jump", "slash", "Find", "Find a symbol by some of its letters", find, blocked=not_searchable),
    Command("symbols.add", "a", "Add to pack", "Add the symbol, or the row under the cursor, to the pack",
            add_to_pack, blocked=(_past, _nothing_shown)),
    Command("symbols.depth", "d", "Depth", "Follow callers and callees 1, 2 or 3 steps",
            lambda screen: screen.relations.deeper(), blocked=_nothing_shown),
    Command("symbols.unresolved", "n", "Unresolved", "Toggle unresolved calls of that name and callers",
            lambda screen: screen.relations.turn_unresolved(), bar="possible",
            blocked=(_no_symbol, _all_resolved)),
    Command("symbols.back", "left_square_bracket,alt+left", "Back", "Go back",
            lambda screen: screen.go(screen.navigation.back(), record=False), blocked=_no_way_back),
    Command("symbols.forward", "right_square_bracket,alt+right", "Forward", "Go forward",
            lambda screen: screen.go(screen.navigation.forward(), record=False), bar=False, blocked=_no_way_forward),
    Command("symbols.copy", "y", "Copy place", "Copy path:line", with_target(target_of, copy_place), blocked=_nothing_shown),
    Command("symbols.edit", "e", "Edit", "Open in $EDITOR at this line", with_target(target_of, edit),
            blocked=(_past, _nothing_shown)),
    Command("symbols.life", "L", "Life", "Show in History when it was added, changed and removed", show_life,
            blocked=_no_symbol),
    Command("symbols.next", "t", "Next tab", "Next tab: definitions, callers, callees, imports, importers",
            lambda screen: screen.relations.turn(), bar=False),
    Command("symbols.zoom", "z", "Zoom", "Zoom the focused panel, and back", SymbolsView.zoom),
)  # fmt: skip


class SymbolsScreen(SymbolsView, commands=SYMBOLS_COMMANDS):
    """Browse symbols, callers and callees."""

    SHOWS_REVISION = True
    INTRO = (
        "Folders, files and symbols on the left; type / to find a symbol by a few of its letters. For the symbol under "
        "the cursor: its source, its definitions, callers, callees, and the imports of its file. Enter jumps to any "
        "row, [ and ] go back and forth. Rows in yellow are ambiguous: space shows all possible targets."
    )
    ZOOMS = ("source-panel", "tree-panel", "relations-panel")

    _back = ""
    """The mode that led here, which Escape leads back to."""

    # --- what other modes ask for ---

    def open_symbol(self, key: SymbolKey | None, path: str, line: int) -> None:
        """Another mode sends the person here."""
        self.go(SymbolPlace(key.path if key else path, line, key, find=True))
        self.code.focus()

    def open_path(self, path: str, line: int, back: str, note: str) -> None:
        """Another mode shows a file here."""
        self._back = back
        self.go(SymbolPlace(path, line))
        self.code.focus()
        if note:
            self.cm.tell(note)

    @on(events.ScreenSuspend)
    def _went_elsewhere(self) -> None:
        """Escape leads back only until the person goes elsewhere; a dialog above is not elsewhere."""
        if self.app.current_mode != self.MODE:
            self._back = ""

    # --- the tree ---

    def leave(self) -> None:
        """Leave for the mode that led here, then the filter."""
        if self._back and not self.finder.has_focus_within:
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
