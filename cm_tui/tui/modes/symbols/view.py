"""What the symbols mode shows: the tree, and the source and relations of what was chosen in it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import FileEntry, Page, Symbol
from cm_tui.tui.modes.symbols.code_tree import CodeTree
from cm_tui.tui.modes.symbols.relation_panel import DEPTHS, UNASKED, LifeLine, RelationPanel
from cm_tui.tui.screens.list_mode import InputMode
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.screens.symbol_content import SymbolContent, SymbolPlace, load_content
from cm_tui.tui.state.navigation import Navigation
from cm_tui.tui.state.revision import files_of, reading, symbols_of
from cm_tui.tui.widgets.code_nodes import kind_mark
from cm_tui.tui.widgets.relations import RelationList
from cm_tui.tui.widgets.sourcelist import SourceList
from cm_tui.tui.widgets.split import PathPanel, Split, Words, end_waiting, show_waiting
from cm_tui.tui.widgets.text import count, number_of, one_line, one_line_signature

# --- the files of the project as a tree, or the symbols that some letters find ---

_MATCHES = 200
"""Symbols that are asked for at first, and with each step of scrolling."""
_NEAR_END = 20
"""Rows before the last one from which on more are asked for."""
_ALL = 100_000


class TreePanel(ModePanel):
    """Asks for what it shows; tells what was chosen in it with the messages of its tree."""

    class Filled(Message):
        """The files are there, or there again."""

    at: str | None = None
    """The revision whose files and symbols are shown; None: now."""
    _shown: str | None = None
    _limit = _MATCHES
    _total = 0
    """How many symbols the letters match."""
    _chosen = False
    """Enter was pressed before the response: the first match is chosen once it is there."""

    def compose(self) -> ComposeResult:
        """Input, tree."""
        yield Input(placeholder="/ find a symbol", id="jump", compact=True)
        yield CodeTree(id="tree", empty="Opening the project…")

    tree_list = getters.query_one("#tree", CodeTree)
    filter_input = getters.query_one("#jump", Input)

    def refill(self) -> None:
        """Read the files, or what the letters find, again; what is on screen stays until that is there."""
        if self.filter_input.value.strip():
            self._find_matches(self.filter_input.value)
        else:
            self._read_files()

    # --- files ---

    def _read_files(self) -> None:
        self.tree_list.say("Reading files…")
        at = self.at
        self.mode.ask("files", lambda engine: files_of(engine, at), self._got_files, self._failed)

    def _got_files(self, page: Page[FileEntry]) -> None:
        if self.filter_input.value.strip():
            return
        end_waiting(self)
        self.label(subtitle=number_of(len(page.rows), page.total, "file"))
        self.tree_list.set_files(page.rows, reset=self._shown != self.at)
        self._shown = self.at
        if not page.rows:
            self.tree_list.set_rows((), empty="There were no files yet." if self.at else "The index is empty.")
        self.post_message(self.Filled())

    def _failed(self, error: CmError) -> None:
        self._chosen = False
        end_waiting(self)
        self.label(subtitle="")
        self.tree_list.set_rows((), empty=error.one_line)

    @on(CodeTree.SymbolsRequested)
    def _fill_file(self, event: CodeTree.SymbolsRequested) -> None:
        node, at = event.node, self.at
        self.mode.ask(
            f"inside:{node.path}",
            lambda engine: symbols_of(engine, at, file=node.path, limit=_ALL),
            lambda page: self.tree_list.fill(node, page.rows),
        )

    def show_at(self, at: str | None, words: str) -> None:
        """Show another revision.

        Args:
            at: the revision; None: now.
            words: what is said until it is there.
        """
        self.at = at
        if self.tree_list.rows:
            show_waiting(self, words)
        else:
            self.tree_list.say(words)
        self.refill()

    # --- letters ---

    def clear(self) -> None:
        """Back to the files."""
        self._chosen = False
        self.filter_input.value = ""
        self.tree_list.focus()

    @on(Input.Changed, "#jump")
    def _find(self, event: Input.Changed) -> None:
        self._limit, self._chosen = _MATCHES, False
        self._find_matches(event.value)

    def _find_matches(self, value: str) -> None:
        text, limit = value.strip(), self._limit
        if not text:
            self.mode.drop_question("match")
            self.tree_list.query_text = ""
            self.tree_list.set_rows(())
            self._read_files()
            return

        def got(page: Page[Symbol]) -> None:
            end_waiting(self)
            self._total = page.total
            self.tree_list.show_matches(text, page.rows)
            if self._chosen:
                self._choose()
            self.label(subtitle=number_of(len(page.rows), page.total, "symbol"))

        at = self.at
        self.mode.ask("match", lambda engine: symbols_of(engine, at, match=text, limit=limit), got, self._failed)

    @on(Input.Submitted, "#jump")
    def _take_first(self) -> None:
        self.tree_list.focus()
        text = self.filter_input.value.strip()
        # The rows of other letters are nothing that was chosen.
        self._chosen = bool(text) and text != self.tree_list.query_text
        if not self._chosen:
            self._choose()

    def _choose(self) -> None:
        self._chosen = False
        # From the tree's own queue: what is posted on behalf of a parent does not go beyond that parent.
        self.tree_list.call_later(self.tree_list.action_choose)

    @on(CodeTree.Highlighted, "#tree")
    def _ask_for_more(self) -> None:
        """Ask for more matches near the last row that is there."""
        tree = self.tree_list
        listed = len(tree.rows)
        if tree.query_text and self._limit <= listed < self._total and tree.cursor >= listed - _NEAR_END:
            self._limit = listed + _MATCHES
            self._find_matches(self.filter_input.value)


# --- what the symbols mode shows ---


def waiting_head(before: SymbolContent | None, words: str) -> Content:
    """What stands above the source until that of another revision is there: in as many lines as before."""
    if before is None:
        return Content.styled(words, "$muted")
    lines = head_text(before).plain.count("\n")
    return Content.assemble((words, "$muted"), "\n" * lines)


def head_text(view: SymbolContent) -> Content:
    """What stands above the source: name and kind, signature, the first sentences of its documentation."""
    symbol = view.symbol
    if symbol is None:
        facts = count(len(view.symbols), "symbol")
        return Content.assemble((one_line(view.place.path), "bold"), (f"  {facts}", "$muted"))
    letter, style = kind_mark(symbol.kind)
    lines = f"lines {symbol.start_line}-{symbol.end_line}"
    if symbol.start_line == symbol.end_line:
        lines = f"line {symbol.start_line}"
    signature = one_line_signature(symbol.signature)
    doc = one_line(symbol.doc.strip().split("\n\n")[0])
    rows = [
        Content.assemble(
            (f"{letter} ", style),
            (one_line(symbol.qualname), "bold"),
            (f"  {symbol.kind} · {symbol.language} · {lines}", "$muted"),
        )
    ]
    if signature:
        rows.append(Content.styled(signature, "$primary"))
    if doc:
        rows.append(Content.styled(doc, "$soft"))
    return Content("\n").join(rows)


_NEVER = object()


class SymbolsView(InputMode):
    """The tree on the left; on the right what is shown of the place that the person is at."""

    def __init__(self) -> None:
        super().__init__()
        self.navigation: Navigation[SymbolPlace] = Navigation()
        self.shown: SymbolContent | None = None
        """What is on screen, of the revision that the application stands at; None while it is being read."""
        self._left: tuple[SymbolPlace | None, int] = (None, 0)
        """The place that was shown last, and the line that the cursor stood on there."""
        self._at: str | None = None
        """The revision that the panels were told to show; None: now."""
        self._seen_status: object = _NEVER
        self._asked: object = None
        """The place that was asked for last, the revision, and the state of the project."""

    def compose_body(self) -> Iterable[Widget]:
        """Tree on the left; head, source and relations on the right."""
        with Split(id="symbols-body"):
            yield TreePanel(id="tree-panel", title="Files and symbols")
            with Container(id="symbol-detail"):
                with Vertical(id="symbol-top"):
                    yield Words(id="symbol-head")
                    yield LifeLine(id="symbol-life")
                empty = "Choose a symbol on the left, or type / to find one."
                yield PathPanel(SourceList(id="source", empty=empty), id="source-panel", title="Source")
                yield RelationPanel()

    def on_mount(self) -> None:
        """Restore the state of the last run."""
        self._at = self.finder.at = self.relations.at = self.cm.revision.at
        self.show_words("symbol-head", "")
        self.relations.depth = self.kept("depth", 1, DEPTHS)
        if path := self.kept("path", ""):
            self.navigation.look(SymbolPlace(path, self.kept("line", 0), find=self.kept("symbol", False)))
            self._open_soon()
        self.code_tree.focus()

    def keep(self) -> None:
        """The place and the depth."""
        super().keep()
        self.choices["depth"] = self.relations.depth
        if self.shown is not None:
            place, symbol = self.shown.place, self.shown.symbol
            line = symbol.start_line if symbol else place.line
            self.choices.update(path=place.path, line=line, symbol=symbol is not None)

    # --- parts ---

    @property
    def place(self) -> SymbolPlace | None:
        """What is shown, or on its way."""
        return self.navigation.here

    finder = getters.query_one("#tree-panel", TreePanel)

    @property
    def code_tree(self) -> CodeTree:
        """The tree."""
        return self.finder.tree_list

    list_shown = code_tree

    @property
    def filter_input(self) -> Input:
        """Where letters of a symbol are typed."""
        return self.finder.filter_input

    source_panel = getters.query_one(PathPanel)
    code = getters.query_one("#source", SourceList)
    relations = getters.query_one("#relations-panel", RelationPanel)
    _life = getters.query_one(LifeLine)

    @property
    def relation_list(self) -> RelationList:
        """The rows of the active tab."""
        return self.relations.rows

    # --- the tree ---

    def project_changed(self) -> None:
        """Read the files again when the index has news."""
        if reason := self.cm.project.why_not_searchable:
            self.code_tree.say(reason)
        elif self._seen_status != self.cm.project.status:
            self._seen_status = self.cm.project.status
            self.finder.refill()

    @on(TreePanel.Filled)
    def _poll(self) -> None:
        if self.place is not None:
            self.code_tree.reveal(self.place.path)
            self.go(self.place, record=False)

    def revision_changed(self) -> None:
        """Show everything as it is at another revision; until that is there, nothing of the one before."""
        if self.cm.revision.at == self._at:
            return
        self._at = self.finder.at = self.relations.at = self.cm.revision.at
        self._empty()
        if self.cm.project.why_not_searchable is None:
            self.finder.show_at(self._at, reading(self.cm.revision.moment))
            if self.place is not None:
                self.go(self.place, record=False)

    def _empty(self) -> None:
        """Take what belongs to another revision from the screen, and say what is being read."""
        words = reading(self.cm.revision.moment)
        before, self.shown = self.shown, None
        if before is not None:
            self._left = (before.place, self.code.cursor)
        if self.place is None:
            return
        self.show_words("symbol-head", waiting_head(before, words))
        # What stood here may not be there at the other revision.
        self.source_panel.show_title("", "")
        self.code.set_rows((), empty=words)
        self.relations.forget(words)
        self._life.mark_ordinal(self._here)

    @property
    def _here(self) -> int:
        """The ordinal that is shown; 0: now."""
        moment = self.cm.revision.moment
        return moment.ordinal if moment else 0

    @property
    def answers_are_of(self) -> str | None:
        """The revision that is shown."""
        return self.cm.revision.at

    # --- places ---

    def go(self, place: SymbolPlace, *, record: bool = True) -> None:
        """Show a place; with `record` it is a step that `back` leads away from."""
        if record:
            self.navigation.go(place)
            self._open_soon()
        else:
            self.navigation.look(place)
        at, asked = self.cm.revision.at, (place, self.cm.revision.at, self.cm.project.status)
        if self.cm.project.why_not_searchable is None and asked != self._asked:
            self._asked = asked
            self.ask("view", lambda engine: load_content(engine, place, at), self._show, self._cannot_show)
        self.refresh_keys()

    def _open_soon(self) -> None:
        """Name what is being opened, where nothing is shown yet."""
        if self.shown is None and self.place is not None and self.cm.revision.at is None:
            self.code.set_rows((), empty=f"Opening {one_line(self.place.path)}…")

    def _cannot_show(self, error: CmError) -> None:
        self.shown, self._left, self._asked = None, (None, 0), None
        self.show_words("symbol-head", Content(""))
        self.source_panel.label(subtitle="")
        self.code.set_rows((), empty=error.one_line)
        self.relations.empty(words=UNASKED)
        self._life.show(None)

    def _show(self, content: SymbolContent) -> None:
        if self.shown is not None:
            self._left = (self.shown.place, self.code.cursor)
        left, cursor = self._left
        # A place that was cleared for another revision is refilled with the same cursor.
        again, again_shown = left == content.place, self.shown is not None and left == content.place
        self.shown = content
        self.show_words("symbol-head", head_text(content))
        self.source_panel.show_path(content.place.path)
        stale = "changed since it was indexed" if content.stale else ""
        self.source_panel.label(subtitle=" · ".join(filter(None, (content.note, stale))))
        self.code.set_rows(content.lines, cursor=cursor if again else 0, empty="This file is empty.")
        if content.place.line and not again:
            self.code.go(content.place.line)
        self.relations.show(content, again=again_shown)
        self._life.show(content.symbol.key if content.symbol else None, self._here, again=again)
        self.remember()
        self.refresh_keys()
        if self.focused is not self.code_tree and not self.code_tree.query_text:
            self.code_tree.reveal(content.place.path)
