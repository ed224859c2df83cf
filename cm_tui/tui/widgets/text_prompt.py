"""A small question over a mode: a line of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class Prompt(ModalScreen[str | None]):
    """Asks for a line of text; None when the person turns away.

    Args:
        title: what is asked.
        value: what stands there already.
        hint: what can be given; may say what a wrong answer was.
        check: says what is wrong with an answer, or nothing.
        wrong: what was wrong with the answer before.
        adds: what is typed comes behind what stands there; without it, in its place.
    """

    DEFAULT_CSS = """
    Prompt { align: center middle; background: $background 60%; }
    Prompt > Vertical { width: 72; max-width: 94%; height: auto; background: $surface; border: round $primary;
        border-title-color: $primary; border-title-style: bold; border-subtitle-color: $muted; padding: 1 2; }
    Prompt Input { margin: 0; }
    Prompt Static { height: auto; color: $soft; padding: 0 1; }
    Prompt Static.-wrong { color: $error; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "turn_away", show=False)]

    def __init__(
        self,
        title: str,
        value: str = "",
        hint: str = "",
        check: Callable[[str], str | None] | None = None,
        *,
        wrong: str = "",
        adds: bool = False,
    ) -> None:
        super().__init__()
        self._title = title
        self._value = value
        self._hint = hint
        self._check = check
        self._wrong = wrong
        self._adds = adds

    def compose(self) -> ComposeResult:
        """Title, input, hint."""
        with Vertical() as box:
            box.border_title = Content(f" {self._title} ")
            box.border_subtitle = Content(" enter accepts · esc closes ")
            yield Input(self._value, select_on_focus=not self._adds)
            yield Static(Content(self._wrong or self._hint), id="prompt-hint", classes="-wrong" if self._wrong else "")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand the answer back when nothing is wrong with it."""
        event.stop()
        wrong = self._check(event.value) if self._check else None
        if wrong is None:
            self.dismiss(event.value)
            return
        hint = self.query_one("#prompt-hint", Static)
        hint.update(Content(wrong))
        hint.add_class("-wrong")

    def action_turn_away(self) -> None:
        """No answer."""
        self.dismiss(None)
