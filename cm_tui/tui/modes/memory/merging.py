"""Making one entry of two that say nearly the same: both are shown side by side first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.model import Duplicates, Entry, MemoryChange
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.memory.facts import who
from cm_tui.tui.modes.memory.signs import title_of
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.widgets.prose import ProseList
from cm_tui.tui.widgets.text import elide_end, one_line

_TITLE = 50


class MergeScreen(ModalScreen[str]):
    """Shows two entries, and asks which of them takes the other one along; its answer is the id of that one.

    Args:
        screen: the mode.
        pair: both, and why they are thought to be the same.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('')", show=False),
        Binding("1", "answer('first')", show=False),
        Binding("2", "answer('second')", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, screen: MemoryView, pair: Duplicates) -> None:
        super().__init__()
        self._mode = screen
        self._pair = pair

    def compose(self) -> ComposeResult:
        """Both texts, what only one has, and the answers."""
        pair = self._pair
        with Vertical(id="merge-box") as box:
            box.border_title = Content(f" {pair.likeness:.0%} alike ")
            box.border_subtitle = Content(" one entry gets the other's text; u undoes it ")
            with Horizontal(id="merge-sides"):
                for side, entry, only in (
                    ("first", pair.first, pair.only_first),
                    ("second", pair.second, pair.only_second),
                ):
                    with Vertical(classes="panel") as panel:
                        panel.border_title = Content(f"{entry.category}: {elide_end(title_of(entry), _TITLE)}")
                        yield Static(_facts(entry, only), classes="merge-facts", markup=False)
                        yield ProseList(
                            partial(self._mode.cm.tasks.work, topic=f"memory.merge-{side}"),
                            id=f"merge-{side}", empty="It has no text.",
                        )  # fmt: skip
            with Horizontal(id="merge-buttons"):
                yield Button(Content("Leave both (esc)"), id="leave", variant="primary")
                yield Button(Content("Merge into the first (1)"), id="first")
                yield Button(Content("Merge into the second (2)"), id="second")

    def on_mount(self) -> None:
        """Show the texts, and begin at the answer that changes nothing."""
        for side, entry in (("first", self._pair.first), ("second", self._pair.second)):
            self.call_after_refresh(self.query_one(f"#merge-{side}", ProseList).show, entry.content)
        self.query_one("#leave", Button).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_answer(str(event.button.id))

    def action_answer(self, side: str) -> None:
        """Decide."""
        pair = self._pair
        self.dismiss({"first": pair.first.id, "second": pair.second.id}.get(side, ""))


def _facts(entry: Entry, only: Sequence[str]) -> Content:
    """Return whose it is, and the words that the other one lacks."""
    scope = "all projects" if entry.scope == "user" else "this project"
    whose = f" {who(entry.actor, entry.agent)}, {local_day(entry.timestamp / 1000)}, {scope}"
    words = one_line(", ".join(only)) or "nothing"
    return Content.assemble((whose, "$soft"), "\n", (f" only here: {words}", "$muted"))


def merge(screen: MemoryView, pairs: Sequence[Duplicates]) -> None:
    """Show the likest pair of entries, and merge them where a person says so."""
    pair = pairs[0]

    def done(change: MemoryChange) -> None:
        screen.pending = ("entry", change.id)
        screen.told(change.words, undoable=bool(change.change))

    def answered(kept: str | None) -> None:
        if kept:
            stays, goes = (pair.first, pair.second) if kept == pair.first.id else (pair.second, pair.first)
            do_undoable(
                screen, lambda engine: engine.merge_entries([kept, goes.id]), done,
                title=title_of(stays), about={goes.id: title_of(goes)},
            )  # fmt: skip

    screen.app.push_screen(MergeScreen(screen, pair), answered)
