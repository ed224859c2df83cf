"""Why a proposal is rejected: one of the reasons that were given before, another one, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

MOST = 8
"""Reasons that are remembered."""
FIRST = ("not true", "no longer true", "only for that once", "known already", "too vague", "of no use")
"""Reasons that are offered before any was given."""
_TITLE = 56


@dataclass(frozen=True)
class ReasonRow:
    """A reason, and the key that gives it."""

    key: str
    reason: str


class ReasonList(RowList[ReasonRow], inherit_bindings=False):
    """List of reasons without letter keys, which go to the input for another reason."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("enter", "choose", show=False),
    ]

    def draw(self, row: ReasonRow, width: int) -> Content:
        """Key and reason."""
        words = elide_end(one_line(row.reason), max(8, width - 5)) or "without a reason"
        return Content.assemble((f" {row.key:<2} ", "bold $accent"), (words, "$foreground" if row.reason else "$soft"))


class RejectDialog(ListDialog[ReasonRow]):
    """Asks for a reason.

    Args:
        what: is rejected.
        reasons: those that were given before, the last first.
        rejected: gets the reason; empty: none.
    """

    def __init__(self, what: str, reasons: Sequence[str], rejected: Callable[[str], object]) -> None:
        rows = [ReasonRow("⏎", ""), *(ReasonRow(str(n), one) for n, one in enumerate(reasons[:MOST], start=1))]
        hint = " ⏎ or a number rejects · letters: another reason · esc leaves "
        reason_list = ReasonList(id="reject-reasons")
        reason_list.styles.height = len(rows)
        super().__init__(
            " Reject: it is not proposed again ",
            hint,
            rows,
            reason_list,
            lambda row: rejected(row.reason),
            look="small",
        )
        self._what = what

    def above(self) -> Iterable[Widget]:
        """What is rejected."""
        yield Static(Content.styled(elide_end(one_line(self._what), _TITLE), "$soft"), id="reject-what")

    def below(self) -> Iterable[Widget]:
        """A line for another reason."""
        yield Input(placeholder="another reason", id="reject-other", compact=True, select_on_focus=False)

    def on_key(self, event: events.Key) -> None:
        """Give the reason of a number; a letter begins another one."""
        other = self.query_one(Input)
        if self.focused is other:
            if event.key == "up":
                event.stop()
                self.list.focus()
            return
        row = next((row for row in self.list.rows if row.key == event.character), None)
        if row is not None:
            event.stop()
            self.choose(row)
        elif event.character and event.is_printable:
            event.stop()
            event.prevent_default()
            other.focus()
            other.insert_text_at_cursor(event.character)

    @on(Input.Submitted)
    def _submitted_reason(self, event: Input.Submitted) -> None:
        event.stop()
        self.choose(ReasonRow("", event.value.strip()))


def with_reason(reasons: Sequence[str], given: str) -> list[str]:
    """Return the reasons with one that was given in front."""
    return list(dict.fromkeys([given, *reasons]))[:MOST] if given else list(reasons)
