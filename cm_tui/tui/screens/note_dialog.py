"""Writing a paragraph at the end of a note."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.tui.screens.writing import Submit, WritingScreen


@dataclass(frozen=True)
class NoteDraft:
    """What is to be written at the end of a note."""

    name: str
    """Of the note; empty: the log of today."""
    text: str


class NoteDialog(WritingScreen[NoteDraft]):
    """Asks what is to be written, and where to.

    Args:
        name: of the note that is suggested.
        text: what stands there already.
        submit: stores it.
    """

    def __init__(self, name: str, text: str, submit: Submit[NoteDraft]) -> None:
        super().__init__(
            "Write into a note", text, submit,
            "To: empty for today's log, `router` for a topic, `user:style.md` for a note of yours. The text is appended.",
        )  # fmt: skip
        self._note_name = name

    def fields(self) -> Iterable[Widget]:
        """The note."""
        with Horizontal(classes="writing-field"):
            yield Static(Content.styled(f"{'to':<10}", "$muted"), classes="writing-label")
            yield Input(self._note_name, placeholder="the log of today", id="note-name", compact=True)

    def value(self) -> NoteDraft:
        """Return what was written."""
        return NoteDraft(self.query_one("#note-name", Input).value.strip(), self.area.text)

    def wrong(self, value: NoteDraft) -> str:
        """Return what is wrong with it."""
        return "" if value.text.strip() else "There is nothing to write down yet."
