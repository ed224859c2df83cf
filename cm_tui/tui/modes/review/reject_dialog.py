"""Why a proposal is rejected: one of the reasons that were given before, another one, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

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


class RejectDialog(ModalScreen[str | None]):
    """Asks for a reason; None when the person turns away.

    Args:
        what: is rejected.
        reasons: those that were given before, the last first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "turn_away", show=False)]

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        super().__init__()
        self._what = what
        self._rows = [ReasonRow("⏎", ""), *(ReasonRow(str(n), one) for n, one in enumerate(reasons[:MOST], start=1))]

    def compose(self) -> ComposeResult:
        """What is rejected, reasons, and a line for another one."""
        with Vertical(id="reject-box") as box:
            box.border_title = Content(" Reject: it is not proposed again ")
            box.border_subtitle = Content(" ⏎ or a number rejects · letters: another reason · esc leaves ")
            yield Static(Content.styled(elide_end(one_line(self._what), _TITLE), "$soft"), id="reject-what")
            yield ReasonList(id="reject-reasons")
            yield Input(placeholder="another reason", id="reject-other", compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        """Show the reasons."""
        reasons = self.query_one(ReasonList)
        reasons.set_rows(self._rows)
        reasons.styles.height = len(self._rows)
        reasons.focus()

    def on_key(self, event: events.Key) -> None:
        """Give the reason of a number; a letter begins another one."""
        other = self.query_one(Input)
        if self.focused is other:
            if event.key == "up":
                event.stop()
                self.query_one(ReasonList).focus()
            return
        row = next((row for row in self._rows if row.key == event.character), None)
        if row is not None:
            event.stop()
            self.dismiss(row.reason)
        elif event.character and event.is_printable:
            event.stop()
            event.prevent_default()
            other.focus()
            other.insert_text_at_cursor(event.character)

    @on(ReasonList.Chosen)
    def _chosen(self, event: ReasonList.Chosen) -> None:
        event.stop()
        self.dismiss(event.row.reason)

    @on(Input.Submitted)
    def _said(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())

    def action_turn_away(self) -> None:
        """Reject nothing."""
        self.dismiss(None)


def with_reason(reasons: Sequence[str], given: str) -> list[str]:
    """Return the reasons with one that was given in front."""
    return list(dict.fromkeys([given, *reasons]))[:MOST] if given else list(reasons)
