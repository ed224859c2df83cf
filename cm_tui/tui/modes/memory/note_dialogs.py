"""Changing a note in place, and both sides of lines that two have changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import unified_diff

from textual.content import Content

from cm_tui.model import Decision, NoteConflict
from cm_tui.tui.screens.question import Option, Question, side_by_side
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


def conflict_question(name: str, conflict: ConflictLines, decided: Callable[[Decision], None]) -> Question:
    """Return the question which side of changed lines counts; it shows both.

    Args:
        name: of the note.
        conflict: what either side changed.
        decided: gets the answer.
    """
    options = [
        Option("Both, one behind the other", "b", lambda: decided("both")),
        Option("Mine", "m", lambda: decided("mine")),
        Option("Theirs", "t", lambda: decided("theirs")),
        Option("Back", "escape", lambda: decided("")),
    ]
    return Question(
        "", options, title=f" {elide_end(one_line(name), 60)} was changed meanwhile, in the same lines ",
        subtitle=" esc goes back to your text ", look="sides",
        body=side_by_side(
            ("What you changed", RowList(conflict.mine, _draw, empty="Nothing.")),
            ("What is in the file", RowList(conflict.theirs, _draw, empty="Nothing.")),
        ),
    )  # fmt: skip


def _draw(line: str, width: int) -> Content:
    """Draw a line of a difference in the colour of what became of it."""
    return Content.styled(elide_end(one_line(line.expandtabs(4)), width), patch_style(line))
