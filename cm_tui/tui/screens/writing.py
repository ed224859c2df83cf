"""A dialog in which a text is written: nothing of it is lost while it could not be stored."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static, TextArea

from cm_tui.errors import CmError
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.widgets.text import elide_end, one_line

V = TypeVar("V")
Answer = Callable[[str], None]
"""Takes what is wrong with what was written; empty: it is stored."""
Submit = Callable[[V, Answer], None]
"""Stores what was written, and says later what came of it."""
_TITLE = 70


def words_of_error(error: CmError) -> str:
    """Return an error and what to do about it, in one line."""
    return one_line(f"{error.message} {error.hint}".strip())


class WritingScreen(ModalScreen[None], Generic[V]):
    """Fields, a text below them, and what is wrong with either.

    Args:
        title: what is written.
        text: what stands there already.
        submit: stores it; the dialog stays until that is done.
        hint: said below the text.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False, priority=True),
        Binding("escape", "leave", show=False),
    ]

    def __init__(self, title: str, text: str, submit: Submit[V], hint: str = "") -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._submit = submit
        self._hint = hint
        self._began: V | None = None
        self._is_waiting = False

    def compose(self) -> ComposeResult:
        """Fields, text, hint."""
        with Vertical(classes="writing-box") as box:
            box.border_title = Content(f" {elide_end(one_line(self._title), _TITLE)} ")
            box.border_subtitle = Content(" ctrl+s saves · esc leaves ")
            yield from self.fields()
            yield TextArea(self._text, id="writing-text", soft_wrap=True, show_line_numbers=False)
            yield Static(Content(self._hint), id="writing-hint", markup=False)

    def fields(self) -> Iterable[Widget]:
        """For a subclass to give: what stands above the text."""
        return ()

    @abstractmethod
    def value(self) -> V:
        """Return what was written."""

    def wrong(self, value: V) -> str:  # noqa: ARG002 - for a subclass to look at
        """Return what is wrong with it, as far as that can be known here; empty: nothing."""
        return ""

    def on_mount(self) -> None:
        """Begin to write where nothing stands yet."""
        self._began = self.value()
        self.query_one(TextArea).focus()

    @property
    def area(self) -> TextArea:
        """The text."""
        return self.query_one(TextArea)

    # --- the end ---

    def action_save(self) -> None:
        """Store it, and close once that is done."""
        value = self.value()
        if self._is_waiting:
            return
        if wrong := self.wrong(value):
            self.say(wrong)
            return
        self._is_waiting = True
        self._submit(value, self._answered)

    def _answered(self, wrong: str) -> None:
        self._is_waiting = False
        if not self.is_attached:
            return
        if wrong:
            self.say(wrong)
        else:
            self.dismiss()

    def say(self, wrong: str) -> None:
        """Say what is wrong."""
        hint = self.query_one("#writing-hint", Static)
        hint.update(Content(wrong))
        hint.add_class("-wrong")

    def action_leave(self) -> None:
        """Close; what was written is thrown away after a question alone."""
        if self._is_waiting:
            return
        if self.value() == self._began:
            self.dismiss()
        else:
            confirm(self, "Throw away what you wrote?", "Throw it away", self.dismiss)
