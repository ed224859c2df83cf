"""A question with yes and no."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from cm_tui.model.text import harmless


class ConfirmScreen(ModalScreen[bool]):
    """Asks before something that takes long or cannot be undone.

    Args:
        question: what would happen.
        yes: what the button that does it says.
        other: another way to do it: its key, what its button says, and what is done then instead.
        text: the whole text in question, scrollable.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape", "answer(False)", "No"),
        Binding("left,right,h,l", "app.focus_next", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(
        self, question: str, yes: str, other: tuple[str, str, Callable[[], None]] | None = None, text: str = ""
    ) -> None:
        super().__init__()
        self._text = text
        self._question = question
        self._yes = yes
        self._other = other
        if other is not None:
            self._bindings.bind(other[0], "other", other[1])

    def compose(self) -> ComposeResult:
        """The question and its buttons."""
        with Vertical(id="confirm-box"):
            yield Static(Content(harmless(self._question)))
            if self._text:
                with VerticalScroll(id="confirm-text", can_focus=False):
                    yield Static(Content(harmless(self._text)))
            with Horizontal(id="confirm-buttons"):
                yield Button(Content(f"{self._yes} (y)"), id="yes", variant="primary")
                if self._other is not None:
                    yield Button(Content(f"{self._other[1]} ({self._other[0]})"), id="other")
                yield Button(Content("Cancel (n)"), id="no")

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "other":
            self.action_other()
        else:
            self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        """Answer by key."""
        self.dismiss(yes)

    def action_scroll(self, lines: int) -> None:
        """Scroll the text."""
        for text in self.query("#confirm-text"):
            text.scroll_relative(y=lines, animate=False)

    def action_other(self) -> None:
        """Go the other way."""
        self.dismiss(False)
        if self._other is not None:
            self._other[2]()
