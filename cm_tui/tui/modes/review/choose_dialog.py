"""Choosing from a list by its number, its name or with the arrow keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, elide_path, one_line

_ROWS = 14


@dataclass(frozen=True)
class ChoiceRow:
    """Something to choose."""

    value: str
    words: str
    more: str = ""
    """Said at the right."""


class ChoiceList(RowList[ChoiceRow]):
    """What can be chosen."""

    def draw(self, row: ChoiceRow, width: int) -> Content:
        """Words, and what is said at the right."""
        more = elide_end(one_line(row.more), width // 2)
        words = elide_path(one_line(row.words), max(4, width - cell_len(more) - 4))
        gap = " " * max(1, width - cell_len(words) - cell_len(more) - 2)
        return Content.assemble(" ", (words, "$foreground"), gap, (more, "$muted"), " ")


class ChooseDialog(ModalScreen[str | None]):
    """Asks which one; None when the person turns away.

    Args:
        title: what is asked.
        rows: what there is to choose.
        typed: what else can be typed; empty: letters only leave what has them.
        value: the one that the cursor is on at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "turn_away", show=False),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, title: str, rows: Sequence[ChoiceRow], *, typed: str = "", value: str = "") -> None:
        super().__init__()
        self._title = title
        self._rows = rows
        self._typed = typed
        self._value = value

    def compose(self) -> ComposeResult:
        """A line to type in, and the list."""
        with Vertical(id="choose-box") as box:
            box.border_title = Content(f" {self._title} ")
            box.border_subtitle = Content(" ⏎ takes it · letters leave what has them · esc leaves ")
            yield Input(placeholder=self._typed or "type to find", id="choose-words", compact=True)
            yield ChoiceList(id="choose-list")

    def on_mount(self) -> None:
        """Everything that there is."""
        self.list.styles.height = min(_ROWS, max(1, len(self._rows)))
        place = next((place for place, row in enumerate(self._rows) if row.value == self._value), 0)
        self.list.set_rows(self._rows, cursor=place)
        self.query_one(Input).focus()

    @property
    def list(self) -> ChoiceList:
        """What can be chosen."""
        return self.query_one(ChoiceList)

    @on(Input.Changed)
    def _find(self, event: Input.Changed) -> None:
        event.stop()
        words = event.value.lower().split()
        left = [
            row for row in self._rows if all(word in f"{row.value} {row.words} {row.more}".lower() for word in words)
        ]
        empty = f"⏎ takes {one_line(event.value.strip())}" if self._typed else "Nothing has that."
        self.list.set_rows(left, empty=empty)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.list.current is not None:
            self.dismiss(self.list.current.value)
        elif self._typed and event.value.strip():
            self.dismiss(event.value.strip())

    @on(ChoiceList.Chosen)
    def _chosen(self, event: ChoiceList.Chosen) -> None:
        event.stop()
        self.dismiss(event.row.value)

    def action_move(self, by: int) -> None:
        """Cursor up or down, whatever has the focus."""
        self.list.cursor += by

    def action_turn_away(self) -> None:
        """Choose nothing."""
        self.dismiss(None)
