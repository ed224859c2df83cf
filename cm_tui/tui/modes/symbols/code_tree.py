"""Folders, files and symbols as a tree whose branches are filled when they are opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from cm_tui.model import FileEntry, Symbol
from cm_tui.tui.screens.symbol_content import SymbolPlace
from cm_tui.tui.widgets.code_nodes import FileIndex, Node, folders_above, highlighted, kind_mark, nested, place_of
from cm_tui.tui.widgets.relations import Relation
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_middle, elide_path, one_line

_LEAST_PATH = 8
"""Cells from which on a path is shown beside a name."""


class CodeTree(RowList[Node]):
    """The lazy tree; `query` marks what a filter matched while it shows a flat list of symbols."""

    BINDINGS: ClassVar[list[BindingType]] = [("right,l", "open"), ("left,h", "close"), ("space", "flip")]

    @dataclass
    class SymbolsRequested(Message):
        """A file was opened: its symbols are needed, to be given to `fill`."""

        node: Node

    @dataclass
    class Visited(Message):
        """The person moved to a row, or letters found one."""

        node: Node

    def __init__(self, *, empty: str = "", id: str | None = None) -> None:  # noqa: A002 - Textual's own name for it
        super().__init__(empty=empty, id=id)
        self._revealing = False
        self._index = FileIndex()
        self._nested: dict[tuple[str, str, int] | None, tuple[Symbol, ...]] = {}
        self.query_text = ""

    # --- filling ---

    def set_files(self, files: Sequence[FileEntry], *, reset: bool = False) -> None:
        """Show the project's files, all branches closed but the folders that were open.

        Args:
            files: all of them.
            reset: the shown symbols are of another revision, so close all files even if the paths are the same.
        """
        before, self._index = self._index, FileIndex(files)
        if self.rows and not self.query_text and not reset and self._index.paths == before.paths:
            self._refresh_files()
            return
        opened = {node.path for node in self.rows if node.opened and node.folder}
        here = self.current.path if self.current else ""
        self.query_text = ""
        rows = self._index.spread("", 0, opened)
        cursor = next((index for index, node in enumerate(rows) if node.path == here), 0)
        self.set_rows(rows, cursor=cursor)

    def _refresh_files(self) -> None:
        """The same paths: what is open stays open."""
        known = dict(zip(self._index.paths, self._index.files, strict=True))
        for node in self.rows:
            if node.file is not None:
                node.file = known[node.path]
        self.redraw()

    def fill(self, node: Node, symbols: Sequence[Symbol]) -> None:
        """Put the symbols of a file under its row."""
        node.loading = False
        children = nested(symbols)
        index = next((index for index, row in enumerate(self.rows) if row is node), None)
        if index is None or not node.opened:
            return
        rows = list(self.rows)
        self._nested.update(children)
        rows[index + 1 : index + 1] = self._rows_of(children.get(None, ()), node.depth + 1)
        self.set_rows(rows, cursor=self.cursor)

    # --- opening and closing ---

    def toggle(self, node: Node) -> None:
        """Open or close a branch."""
        if not node.opens:
            return
        if node.opened:
            self._close(node)
        else:
            self._open(node)

    def _open(self, node: Node) -> None:
        node.opened = True
        if node.file is not None:
            node.loading = True
            self.redraw()
            self.post_message(self.SymbolsRequested(node))
            return
        index = self._row_of(node)
        rows = list(self.rows)
        rows[index + 1 : index + 1] = self._inside(node)
        self.set_rows(rows, cursor=self.cursor)

    def _inside(self, node: Node) -> list[Node]:
        if node.symbol is None:
            return self._index.children(node.path, node.depth + 1)
        return self._rows_of(node.inner, node.depth + 1)

    def _rows_of(self, symbols: Sequence[Symbol], depth: int) -> list[Node]:
        return [Node(s.path, depth, s.name, symbol=s, inner=self._nested.get(place_of(s), ())) for s in symbols]

    def _close(self, node: Node) -> None:
        node.opened = False
        index = self._row_of(node)
        end = index + 1
        while end < len(self.rows) and self.rows[end].depth > node.depth:
            end += 1
        self.set_rows([*self.rows[: index + 1], *self.rows[end:]], cursor=self.cursor)

    def _row_of(self, node: Node) -> int:
        return next(index for index, row in enumerate(self.rows) if row is node)

    def action_open(self) -> None:
        """Open the branch, or step into it."""
        node = self.current
        if node is None:
            return
        if node.opens and not node.opened:
            self._open(node)
        elif node.opened:
            self.cursor += 1

    def action_close(self) -> None:
        """Close the branch, or go to the one above."""
        node = self.current
        if node is None:
            return
        if node.opened:
            self._close(node)
            return
        for index in range(self.cursor - 1, -1, -1):
            if self.rows[index].depth < node.depth:
                self.cursor = index
                return

    def action_flip(self) -> None:
        """Open or close."""
        if self.current is not None:
            self.toggle(self.current)

    def chooses(self, row: Node, x: int, *, again: bool) -> bool:
        """A click on a branch's mark opens it at once."""
        if row.opens and (row.folder or x <= 2 * row.depth + 1):
            self.toggle(row)
            return False
        return again

    # --- drawing ---

    def draw(self, row: Node, width: int) -> Content:
        """Indent, mark, name; counts of files on the right."""
        if self.query_text:
            return self._draw_match(row, width)
        mark = ("▾ " if row.opened else "▸ ") if row.opens else "  "
        indent = "  " * row.depth
        if row.symbol is not None:
            letter, style = kind_mark(row.symbol.kind)
            line = str(row.symbol.start_line)
            name = elide_end(one_line(row.name), max(4, width - len(indent) - 5 - len(line)))
            gap = max(1, width - len(indent) - 4 - cell_len(name) - len(line))
            return Content.assemble((indent + mark, "$muted"), (f"{letter} ", style), name, " " * gap, (line, "$muted"))
        if row.folder:
            return Content.assemble((indent + mark, "$muted"), (f"{one_line(row.name)}/", "bold $secondary"))
        state = {"modified": "M", "untracked": "?", "deleted": "D"}.get(row.file.state if row.file else "", "")
        tail = "…" if row.loading else state
        # The end of a name has its kind, and is what tells it from its neighbours.
        name = elide_middle(one_line(row.name), max(4, width - len(indent) - 2 - (len(tail) + 1 if tail else 0)))
        gap = max(1 if tail else 0, width - len(indent) - 2 - cell_len(name) - len(tail))
        dim = "$muted" if row.file and (row.file.generated or row.file.error) else ""
        return Content.assemble((indent + mark, "$muted"), (name, dim), " " * gap, (tail, "$warning"))

    def _draw_match(self, row: Node, width: int) -> Content:
        assert row.symbol is not None
        letter, style = kind_mark(row.symbol.kind)
        # The end of a name says most about it, and is what people type.
        name = elide_middle(one_line(row.symbol.qualname), max(8, width - 3))
        room = width - cell_len(name) - 4
        shown = f"  {elide_path(one_line(row.symbol.path), room)}" if room >= _LEAST_PATH else ""
        return Content.assemble((f"{letter} ", style), highlighted(name, self.query_text), (shown, "$muted"))

    def show_matches(self, query: str, symbols: Sequence[Symbol]) -> None:
        """Show a flat list of symbols that a query matched; the same query again leaves the cursor on its symbol."""
        before = _named(self.current) if query == self.query_text else None
        self.query_text = query
        rows = [Node(s.path, 0, s.name, symbol=s) for s in symbols]
        cursor = next((index for index, row in enumerate(rows) if _named(row) == before), 0)
        self.set_rows(rows, cursor=cursor, empty=f"No symbols match {query}.")
        if self.current is not None and _named(self.current) != before:
            self.post_message(self.Visited(self.current))

    def watch_cursor(self, before: int, after: int) -> None:
        """Distinguish moves of the person from those of the program."""
        super().watch_cursor(before, after)
        if before != after and not self._revealing and self.current is not None:
            self.post_message(self.Visited(self.current))

    def reveal(self, path: str) -> None:
        """Open the folders above a file and put the cursor on it, which is no visit."""
        self._revealing = True
        try:
            self._reveal(path)
        finally:
            self._revealing = False

    def _reveal(self, path: str) -> None:
        for node_path in [*folders_above(path), path]:
            index = next(
                (index for index, row in enumerate(self.rows) if row.path == node_path and not row.symbol), None
            )
            if index is None:
                return
            node = self.rows[index]
            if node.folder and not node.opened:
                self._open(node)
            self.cursor = index


def _named(row: Node | None) -> tuple[str, str] | None:
    """What a symbol is known by while its file changes."""
    return (row.path, row.symbol.qualname) if row is not None and row.symbol is not None else None


def place_of_node(node: Node | None) -> SymbolPlace | None:
    """Return what a node of the tree stands for; None for a folder."""
    if node is None or node.folder:
        return None
    return SymbolPlace(node.path, 0, node.symbol.key) if node.symbol else SymbolPlace(node.path)


def place_of_relation(row: Relation) -> SymbolPlace:
    """Return where a jump from a relation goes."""
    return SymbolPlace(row.path, row.line, None if row.line else row.key, find=True)
