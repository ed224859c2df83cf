"""A panel of the health mode."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widgets import Static


class Panel(Static):
    """A text that is drawn for the width it has, and again when that changes."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__("", id=f"health-{name}", classes="panel", markup=False)
        self.border_title = Content(title)
        self._draw: Callable[[int], Content] = lambda _: Content("")

    def show(self, draw: Callable[[int], Content]) -> None:
        """Show what `draw` gives for a width; a panel without text is not shown."""
        self._draw = draw
        content = draw(max(30, self.size.width))
        self.display = bool(content.plain)
        self.update(content)

    def on_resize(self) -> None:
        """Wrap at the new width."""
        self.update(self._draw(max(30, self.size.width)))
