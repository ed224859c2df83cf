"""The place that a row, a node or a line stands for."""

from __future__ import annotations

from cm_tui.tui.screens.symbol_content import SymbolPlace
from cm_tui.tui.widgets.code_nodes import Node
from cm_tui.tui.widgets.relations import Relation


def place_of_node(node: Node | None) -> SymbolPlace | None:
    """Return what a node of the tree stands for; None for a folder."""
    if node is None or node.folder:
        return None
    return SymbolPlace(node.path, 0, node.symbol.key) if node.symbol else SymbolPlace(node.path)


def place_of_relation(row: Relation) -> SymbolPlace:
    """Return where a jump from a relation goes."""
    return SymbolPlace(row.path, row.line, None if row.line else row.key, find=True)
