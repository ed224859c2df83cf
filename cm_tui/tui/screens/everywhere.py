"""Memories of all projects on this machine, read-only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from cm_tui.counts import count
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api import projects
from cm_tui.engine.api.everywhere import EverywhereResult, FoundElsewhere, recall_everywhere
from cm_tui.errors import CmError
from cm_tui.model import EpisodeFilter
from cm_tui.tui.screens.memory_hit import answering_line, facts
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import ProseList, matching
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import fit, one_line


@contextmanager
def engine_at(own: Engine, own_root: Path, root: Path) -> Iterator[Engine]:
    """Hold the engine of a root: the open one for its own project, else one that is closed afterwards.

    Args:
        own: the engine that is open.
        own_root: of its project.
        root: of the project that is asked.

    Raises:
        CmError: the project cannot be opened.
    """
    if projects.name_of(root) == projects.name_of(own_root):
        yield own
        return
    with closing(open_engine(root)) as engine:
        yield engine


MOST = 50
"""Hits that are asked for."""
TYPING, SETTLING = 0.3, 0.1
"""Seconds without a key before all projects are asked, and before the hit under the cursor is read."""
_TYPE = "Type a query for all projects on this machine."
_EMPTY = "Their entries, notes and past sessions are searched; nothing is changed."
_PROJECT = 20
"""Cells of the name of a project."""


class FoundList(RowList[FoundElsewhere]):
    """Hits of two lines: the project, what it is and how old; then the line that answers."""

    row_height = 2

    def draw_line(self, row: FoundElsewhere, line: int, width: int) -> Content:
        """One of the two lines."""
        if line:
            return Content.assemble("    ", answering_line(row.hit, width - 5).stylize_before("$muted"))
        name = fit(one_line(row.project.name), min(_PROJECT, width // 3))
        room = max(0, width - 5 - len(name))
        return Content.assemble(
            (f"{row.hit.rank:>3} ", "$secondary"), (name, "bold $accent"), " ", facts(row.hit, None, room)
        )


class EverywhereScreen(ModalScreen[None]):
    """A question to all projects, what answers it, and the text of the hit under the cursor.

    Args:
        mode: asks.
        question: in words, to begin with.
        where: which episodes are wanted; None: everything that is remembered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("S,q", "close", "This project"),
        Binding("slash", "ask", "Ask"),
        ("down", "into_list"),
    ]

    def __init__(self, mode: ModeScreen, question: str, where: EpisodeFilter | None = None) -> None:
        super().__init__()
        self._mode = mode
        self._question = question
        self._where = where

    def compose(self) -> ComposeResult:
        """The question, notes, the hits, and the text of one."""
        with Vertical(id="everywhere-box") as box:
            box.border_subtitle = Content(" ⏎ opens · / new query · S this project · read-only ")
            yield Input(self._question, placeholder=_TYPE, id="everywhere-question", compact=True)
            yield Words(id="everywhere-notes")
            yield FoundList(empty=_EMPTY, id="everywhere-hits")
            yield ProseList(partial(self._mode.cm.tasks.work, topic="everywhere.prose"), id="everywhere-text")

    def on_mount(self) -> None:
        """Ask what the mode has asked."""
        self._title("Everywhere")
        self.query_one("#everywhere-notes").display = False
        (self.hits if self._question else self.query_one(Input)).focus()
        self._ask(0.0)

    hits = getters.query_one(FoundList)

    # --- asking ---

    @on(Input.Changed, "#everywhere-question")
    def _typed(self, event: Input.Changed) -> None:
        if event.value.strip() != self._question:
            self._question = event.value.strip()
            self._ask(TYPING)

    @on(Input.Submitted, "#everywhere-question")
    def action_into_list(self) -> None:
        """Go from the question to what answers it."""
        if self.query_one(Input).has_focus:
            self.hits.focus()

    def _ask(self, delay: float) -> None:
        question, where, root = self._question, self._where, self._mode.cm.root

        def call(engine: Engine) -> EverywhereResult:
            return recall_everywhere(question, MOST, where, partial(engine_at, engine, root))

        if question:
            self._title("Everywhere · asking…")
            self.hits.say("Asking…")
            self._mode.ask("everywhere", call, self._got, self._failed, delay=delay)
        else:
            self._mode.drop_question("everywhere")
            self._show((), _EMPTY)
            self._title("Everywhere")

    def _got(self, result: EverywhereResult) -> None:
        if self.is_attached:
            self._title(f"Everywhere · {count(len(result.rows), 'hit')} of {count(result.projects, 'project')}")
            self._show(result.rows, "No matching memories in any project.")
            notes = self.query_one("#everywhere-notes", Words)
            notes.update("\n".join(f"▲ {one_line(note)}" for note in result.notes[:3]))
            notes.display = bool(result.notes)

    def _failed(self, error: CmError) -> None:
        if self.is_attached:
            self._title("Everywhere")
            self._show((), f"✖ {error.one_line}")

    def _show(self, rows: tuple[FoundElsewhere, ...], empty: str) -> None:
        self.hits.set_rows(rows, empty=empty)
        if not rows:
            self.query_one(ProseList).clear()

    def _title(self, words: str) -> None:
        self.query_one("#everywhere-box").border_title = Content(f" {words} ")

    # --- reading ---

    @on(FoundList.Highlighted, "#everywhere-hits")
    def _came_to(self) -> None:
        row, root = self.hits.current, self._mode.cm.root
        if row is None:
            return

        def call(engine: Engine) -> str:
            with engine_at(engine, root, Path(row.project.roots[0])) as other:
                return other.source(row.hit.path).text

        def got(text: str) -> None:
            if self.is_attached:
                self.query_one(ProseList).show(text, *matching(row.hit))

        def failed(error: CmError) -> None:
            if self.is_attached:
                self.query_one(ProseList).set_rows((), empty=f"✖ {error.one_line}")

        self._mode.ask("everywhere-text", call, got, failed, delay=SETTLING)

    @on(FoundList.Chosen, "#everywhere-hits")
    def _read(self) -> None:
        self.query_one(ProseList).focus()

    # --- back ---

    def action_ask(self) -> None:
        """Type another question."""
        self.query_one(Input).focus()

    def action_back(self) -> None:
        """From the text to the list, from there to the mode."""
        if self.query_one(ProseList).has_focus:
            self.hits.focus()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Show this project alone again."""
        self._mode.drop_question("everywhere")
        self._mode.drop_question("everywhere-text")
        self.dismiss()


def ask_everywhere(mode: ModeScreen, question: str, where: EpisodeFilter | None = None) -> None:
    """Ask all projects what a mode asks of this one.

    Args:
        mode: which.
        question: in words.
        where: which episodes are wanted; None: everything that is remembered.
    """
    mode.app.push_screen(EverywhereScreen(mode, question, replace(where, text="") if where is not None else None))
