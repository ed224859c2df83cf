"""The files of the project as a tree, or the symbols that some letters find."""

from __future__ import annotations

from textual import getters, on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from cm_tui.errors import CmError
from cm_tui.model import FileEntry, Page, Symbol
from cm_tui.tui.modes.symbols.code_tree import CodeTree
from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.state.revision import files_of, symbols_of
from cm_tui.tui.widgets.split import end_waiting, show_waiting
from cm_tui.tui.widgets.text import number_of

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
        self.tree_list.say("Reading the files…")
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
            self.tree_list.set_rows((), empty="There were no files then." if self.at else "The index has no files.")
        self.post_message(self.Filled())

    def _failed(self, error: CmError) -> None:
        self._chosen = False
        end_waiting(self)
        self.label(subtitle="")
        self.tree_list.set_rows((), empty=f"{error.message} {error.hint}")

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
