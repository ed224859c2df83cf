"""Memories of all projects on this machine, read-only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.counts import count
from cm_tui.daemon.open_engine import open_engine
from cm_tui.engine.api import projects
from cm_tui.engine.api.everywhere import EverywhereResult, FoundElsewhere, recall_everywhere
from cm_tui.errors import CmError
from cm_tui.model import EpisodeFilter
from cm_tui.tui.screens.memory_hit import answering_line, facts
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import Finder, ListDialog, ask
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import ProseList, matching
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
LONGEST_S = 60
"""Seconds after which an answer is no longer waited for."""
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


class EverywhereScreen(ListDialog[FoundElsewhere]):
    """A question to all projects, what answers it, and the text of the hit under the cursor.

    Args:
        mode: asks.
        question: in words, to begin with.
        where: which episodes are wanted; None: everything that is remembered.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "back"), ("slash", "ask"), ("down", "into_list")]

    def __init__(self, mode: ModeScreen, question: str, where: EpisodeFilter | None = None) -> None:
        hint = " ⏎ opens · / new query · S this project · read-only "
        finder = Finder[FoundElsewhere](lambda _: "", _TYPE)
        super().__init__("", hint, (), FoundList(), empty=_EMPTY, close="S,q", finder=finder, look="everywhere")
        self._mode, self._question, self._where = mode, question, where
        self._request = 0
        """What is waited for; 0: nothing."""

    def below(self) -> Iterable[Widget]:
        """The text of one."""
        yield ProseList(partial(self._mode.cm.tasks.work, topic="everywhere.prose"))

    def opened(self) -> None:
        """Ask what the mode has asked."""
        line = self.query_one(Input)
        with self.prevent(Input.Changed):
            # Pasted lines are asked as they are; an input shows one.
            line.value = " ".join(self._question.split())
        (self.list if self._question else line).focus()
        self._ask(0.0)

    # --- asking ---

    def narrow(self, text: str) -> None:
        """Ask what was typed."""
        if text != self._question:
            self._question = text
            self._ask(TYPING)

    def submit(self, text: str) -> None:  # noqa: ARG002 - it is asked as it is typed
        """Go from the question to what answers it."""
        self.list.focus()

    def action_into_list(self) -> None:
        """Go from the question to what answers it."""
        self.list.focus()

    def _ask(self, delay: float) -> None:
        question, where, root = self._question, self._where, self._mode.cm.root

        def call(engine: Engine) -> EverywhereResult:
            return recall_everywhere(question, MOST, where, partial(engine_at, engine, root))

        if question:
            self._entitle("Everywhere · asking…")
            self.list.say(f"Asking… for at most {LONGEST_S} s; Esc stops.")
            self._request = self._mode.ask("everywhere", call, self._got, self._failed, delay=delay)
            self.set_timer(LONGEST_S, partial(self._give_up, self._request))
        else:
            self._mode.drop_question("everywhere")
            self._show("Everywhere", (), _EMPTY)

    def _give_up(self, request: int) -> None:
        if request == self._request:
            self._mode.drop_question("everywhere")
            why = "The daemon may be busy or stopped: `cm serve --status` reports it."
            self._show("Everywhere", (), f"✖ No answer for {LONGEST_S} s. {why} Change the query to ask again.")

    def _got(self, result: EverywhereResult) -> None:
        title = f"Everywhere · {count(len(result.rows), 'hit')} of {count(result.projects, 'project')}"
        self._show(title, result.rows, "No matching memories in any project.", result.notes[:3])

    def _failed(self, error: CmError) -> None:
        self._show("Everywhere", (), f"✖ {error.one_line}")

    def _show(self, title: str, rows: tuple[FoundElsewhere, ...], empty: str, notes: Sequence[str] = ()) -> None:
        if not self.is_attached:
            return
        self._request = 0
        self._entitle(title)
        self.list.set_rows(rows, empty=empty)
        self.note("\n".join(f"▲ {one_line(note)}" for note in notes))
        self.query_one("#dialog-note").display = bool(notes)
        if not rows:
            self.query_one(ProseList).clear()

    def _entitle(self, words: str) -> None:
        self.query_one(".list-box").border_title = Content(f" {words} ")

    # --- reading ---

    @on(FoundList.Highlighted)
    def _came_to(self, event: FoundList.Highlighted) -> None:
        row, root = self.list.current, self._mode.cm.root
        if row is None or event.rows is not self.list:
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

    def choose(self, row: FoundElsewhere) -> None:  # noqa: ARG002 - its text is shown already
        """Go into the text."""
        self.query_one(ProseList).focus()

    # --- back ---

    def action_ask(self) -> None:
        """Type another question."""
        self.query_one(Input).focus()

    def action_back(self) -> None:
        """From the text to the list, from there to the mode."""
        if self.query_one(ProseList).has_focus:
            self.list.focus()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Show this project alone again."""
        self._mode.drop_question("everywhere")
        self._mode.drop_question("everywhere-text")
        super().action_close()


def ask_everywhere(mode: ModeScreen, question: str, where: EpisodeFilter | None = None) -> None:
    """Ask all projects what a mode asks of this one.

    Args:
        mode: which.
        question: in words.
        where: which episodes are wanted; None: everything that is remembered.
    """
    ask(mode, EverywhereScreen(mode, question, replace(where, text="") if where is not None else None))
