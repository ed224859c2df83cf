"""Changing a note in place, and both sides of lines that two have changed."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff
from typing import ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button

from cm_tui.model import Decision, NoteConflict
from cm_tui.tui.screens.writing import WritingScreen
from cm_tui.tui.widgets.patches import patch_style
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

_AROUND = 2
"""Lines that are shown around those that differ."""


class NoteEditScreen(WritingScreen[str]):
    """A note as it is, to be changed in place."""

    def value(self) -> str:
        """Return the text."""
        return self.area.text


class DiffList(RowList[str]):
    """Lines of a difference."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "app.focus_next", show=False)]

    def draw(self, row: str, width: int) -> Content:
        """One line, in the colour of what became of it."""
        return Content.styled(elide_end(one_line(row.expandtabs(4)), width), patch_style(row))


@dataclass(frozen=True)
class ConflictLines:
    """What either side changed, as lines of a difference."""

    mine: tuple[str, ...]
    theirs: tuple[str, ...]


def lines_of(conflict: NoteConflict) -> ConflictLines:
    """Return what either side changed, against what both began with."""
    return ConflictLines(_changed(conflict.base, conflict.mine), _changed(conflict.base, conflict.theirs))


def _changed(before: str, after: str) -> tuple[str, ...]:
    lines = unified_diff(before.splitlines(), after.splitlines(), n=_AROUND, lineterm="")
    return tuple(line for line in lines if not line.startswith(("--- ", "+++ ")))


class ConflictScreen(ModalScreen[Decision]):
    """Shows what two made of the same lines, side by side, and asks which counts.

    Args:
        name: of the note.
        conflict: what either changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('')", show=False),
        Binding("m", "answer('mine')", show=False),
        Binding("t", "answer('theirs')", show=False),
        Binding("b", "answer('both')", show=False),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, name: str, conflict: ConflictLines) -> None:
        super().__init__()
        self._note_name = name
        self._conflict = conflict

    def compose(self) -> ComposeResult:
        """Both sides, each as what it changes, and the answers."""
        with Vertical(id="conflict-box") as box:
            box.border_title = Content(
                f" {elide_end(one_line(self._note_name), 60)} was changed meanwhile, in the same lines "
            )
            box.border_subtitle = Content(" esc goes back to your text ")
            with Horizontal(id="conflict-sides"):
                for side, title in (("mine", "What you changed"), ("theirs", "What is in the file")):
                    with Vertical(classes="panel", id=f"conflict-{side}") as panel:
                        panel.border_title = title
                        yield DiffList(id=f"{side}-lines")
            with Horizontal(id="conflict-buttons"):
                yield Button(Content("Both, one behind the other (b)"), id="both", variant="primary")
                yield Button(Content("Mine (m)"), id="mine")
                yield Button(Content("Theirs (t)"), id="theirs")
                yield Button(Content("Back (esc)"), id="back")

    def on_mount(self) -> None:
        """Show the lines that differ."""
        for side, lines in (("mine", self._conflict.mine), ("theirs", self._conflict.theirs)):
            self.query_one(f"#{side}-lines", DiffList).set_rows(lines, empty="Nothing.")
        self.query_one("#both", Button).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_answer("" if event.button.id == "back" else str(event.button.id))

    def action_answer(self, decision: str) -> None:
        """Decide."""
        self.dismiss(cast("Decision", decision))
