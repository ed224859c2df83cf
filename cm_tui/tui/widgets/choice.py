"""One of a few words, chosen with the arrow keys or the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.style import Style
from textual.widget import Widget


class Choice(Widget, can_focus=True):
    """Words side by side, of which one counts.

    Args:
        label: what is chosen.
        options: values, and the words for each.
        value: the one that counts at first.
    """

    DEFAULT_CSS = """
    Choice { height: 1; padding: 0 1; color: $soft; }
    Choice:focus { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "move(-1)", show=False),
        Binding("right,l,space", "move(1)", show=False),
    ]

    def __init__(
        self,
        label: str,
        options: Sequence[tuple[str, str]],
        value: str,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._label = label
        self._options = options
        self.value = value

    def render(self) -> Content:
        """The label, and all words with the one that counts marked."""
        pieces = [Content.styled(f"{self._label:<9}", "$muted")]
        for value, words in self._options:
            chosen = value == self.value
            style = "bold $block-cursor-foreground on $block-cursor-background" if chosen else "$soft"
            pieces.append(Content.styled(f" {words} ", style).stylize(Style.from_meta({"value": value})))
        return Content.assemble(*pieces)

    def action_move(self, by: int) -> None:
        """Choose the next one, or the one before."""
        values = [value for value, _ in self._options]
        self.value = values[(values.index(self.value) + by) % len(values)]
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked on."""
        if value := event.style.meta.get("value"):
            self.value = value
            self.refresh()
