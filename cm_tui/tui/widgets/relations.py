"""Who defines, calls, is called, imports: rows with the line of each use and how it was resolved."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rich.cells import cell_len
from textual import getters, on
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from cm_tui.model import Edge, ImportEdge, Symbol, SymbolKey
from cm_tui.tui.widgets.code_nodes import kind_mark
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Panel
from cm_tui.tui.widgets.text import name_and_place, one_line, one_line_signature

TABS = ("definitions", "callers", "callees", "imports", "importers")
Tab = Literal["definitions", "callers", "callees", "imports", "importers"]

_OF_MODULE = " › "
RESOLUTION_STYLES = {
    "same-file": "$success", "scope": "$success", "import": "$success", "receiver": "$primary", "unique": "$primary",
    "ambiguous": "$warning", "external": "$muted", "unresolved": "$error",
}  # fmt: skip
RESOLUTION_WORDS = {
    "same-file": "defined in the same file",
    "scope": "in scope without an import, from another file",
    "import": "followed through an import",
    "receiver": "by the type of the object it is called on",
    "unique": "the only definition of that name in the project",
    "ambiguous": "several definitions match; space lists them",
    "external": "from outside the project",
    "unresolved": "unknown target",
}


@dataclass(frozen=True)
class Relation:
    """A row: what stands there, where a jump goes, and how it was resolved."""

    name: str
    kind: str
    path: str
    line: int
    """Where a jump goes; an empty path: nowhere."""
    place: str
    """What is shown as the place of the use."""
    resolution: str = ""
    depth: int = 1
    text: str = ""
    key: SymbolKey | None = None
    candidates: tuple[SymbolKey, ...] = ()
    opened: bool = False
    candidate: bool = False
    site: tuple[str, int] | None = None
    """File and line of the use, whose text is read when it is looked at."""


def of_symbols(symbols: Iterable[Symbol]) -> list[Relation]:
    """Definitions."""
    rows = []
    for s in symbols:
        place, text = f"{s.path}:{s.start_line}", one_line_signature(s.signature)
        rows.append(Relation(s.qualname, s.kind, s.path, s.start_line, place, text=text, key=s.key))
    return rows


def of_edges(edges: Iterable[Edge], *, callers: bool) -> list[Relation]:
    """Callers jump to the call; callees jump to the definition."""
    rows = []
    for edge in edges:
        path, line = (edge.site, edge.line) if callers else (edge.path, edge.start_line or 1)
        key = SymbolKey(edge.path, edge.qualname, edge.kind) if edge.path and edge.start_line else None
        via = f" in {edge.target}" if edge.depth > 1 and edge.target else ""
        rows.append(
            Relation(
                edge.qualname, edge.kind, path, line, f"{edge.site}:{edge.line}", edge.resolution, edge.depth,
                f"{edge.text}{via}" if edge.text else "", key, edge.candidates, site=(edge.site, edge.line),
            )
        )  # fmt: skip
    return rows


def of_imports(edges: Iterable[ImportEdge]) -> list[Relation]:
    """Imports jump to the file brought in, or the first of the package."""
    rows = []
    for edge in edges:
        name, text = _imported([edge])
        rows.append(Relation(name, "", edge.file or "", 1, edge.target or "", edge.resolution, text=text))
    return rows


def of_importers(edges: Iterable[ImportEdge]) -> list[Relation]:
    """Importers jump to the import statement, which has one row for all of its names."""
    statements: dict[tuple[str, int, str, str], list[ImportEdge]] = {}
    for edge in edges:
        statements.setdefault((edge.path, edge.line, edge.module, edge.resolution), []).append(edge)
    rows = []
    for (path, line, _, resolution), named in statements.items():
        names, text = _imported(named)
        place = f"{names.rpartition(_OF_MODULE)[2]} :{line}"
        rows.append(Relation(path, "", path, line, place, resolution, text=text))
    return rows


def _imported(named: Sequence[ImportEdge]) -> tuple[str, str]:
    """Return the names of a statement behind their module, and a sentence about them."""
    names = ", ".join(f"{one.name or one.module}{f' as {one.alias}' if one.alias else ''}" for one in named)
    names = f"{named[0].module}{_OF_MODULE}{names}" if named[0].name else names
    return names, f"{'re-exports' if named[0].reexport else 'imports'} {names}"


class RelationList(RowList[Relation]):
    """Rows of one tab."""

    BINDINGS: ClassVar[list[BindingType]] = [("space", "flip")]

    def action_flip(self) -> None:
        """Show or hide what a row that is not resolved may mean."""
        row = self.current
        if row is None or not row.candidates:
            return
        index = self.cursor
        rest = list(self.rows[index + 1 :])
        if row.opened:
            rest = rest[len(row.candidates) :]
            inner: list[Relation] = []
        else:
            inner = [
                Relation(k.qualname, k.kind, k.path, 0, k.path, "", row.depth + 1, "possible target", k, candidate=True)
                for k in row.candidates
            ]
        self.set_rows([*self.rows[:index], replace(row, opened=not row.opened), *inner, *rest], cursor=index)

    def chooses(self, row: Relation, x: int, *, again: bool) -> bool:
        """A click on the mark of a row that is not resolved opens it."""
        if row.candidates and x <= 2 * row.depth:
            self.action_flip()
            return False
        return again

    def draw(self, row: Relation, width: int) -> Content:
        """Mark, kind, name, place of the use, resolution: the name gives way last."""
        mark = ("▾ " if row.opened else "▸ ") if row.candidates else "  "
        if row.candidate:
            mark = "? "
        indent = "  " * (row.depth - 1)
        letter, style = kind_mark(row.kind) if row.kind else (" ", "")
        word = row.resolution
        # The last cell is left to the border.
        room = width - len(indent) - 5 - (len(word) + 2 if word else 0)
        name, place, gap = name_and_place(one_line(row.name), one_line(row.place), room)
        dim = "$muted" if not row.path else ""
        return Content.assemble(
            (indent + mark, "$warning" if row.candidates or row.candidate else ""),
            (f"{letter} ", style), (name, dim), gap, (place, "$muted"),
            (f"  {word}" if word else "", RESOLUTION_STYLES.get(word, "")),
        )  # fmt: skip


class TabLine(Widget):
    """The names of the tabs with their counts; a click chooses one."""

    DEFAULT_CSS = "TabLine { height: 1; }"

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        tab: str

    def __init__(self, tabs: Sequence[str] = TABS, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.auto_links = False
        self.names = tabs
        self.active = "callers"
        self.counts: dict[str, str] = {}

    def render(self) -> Content:
        """Names and counts in full; where there is less room shorter, then with the active one's count only."""
        for squeeze in range(3):
            content = self._line(squeeze)
            if cell_len(content.plain) <= self.size.width:
                break
        return content

    def _line(self, squeeze: int) -> Content:
        pieces: list[Content] = []
        for tab in self.names:
            active = tab == self.active
            name = "Defs" if squeeze and tab == "definitions" else tab.title()
            number = self.counts.get(tab, "") if active or squeeze < 2 else ""
            style = "bold $primary underline" if active else "$muted"
            piece = Content.assemble((name, style), (f" {number}" if number else "", "$muted"))
            pieces.append(piece.stylize(Style.from_meta({"@click": f"choose('{tab}')"})))
        return Content(" " if squeeze else "  ").join(pieces)

    def action_choose(self, tab: str) -> None:
        """Post that the row was chosen."""
        self.post_message(self.Chosen(tab))


class TabPanel(Panel):
    """A panel with tabs above its content."""

    tabs = getters.query_one(TabLine)

    @abstractmethod
    def show_tab(self) -> None:
        """Show the content of the open tab."""

    def activate(self, tab: str) -> None:
        """Open a tab."""
        self.tabs.active = tab
        self.show_tab()

    def turn(self, by: int = 1) -> None:
        """Open the tab to the right, or to the left."""
        names = self.tabs.names
        self.activate(names[(names.index(self.tabs.active) + by) % len(names)])

    @on(TabLine.Chosen)
    def _clicked(self, event: TabLine.Chosen) -> None:
        self.activate(event.tab)
        next(rows for rows in self.query(RowList) if rows.display).focus()
