"""The bottom line: keys that do something here, whole entries only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from cm_tui.tui.widgets.text import elide_end

_ROOMY = 100
"""Columns from which on entries stand further apart."""


@dataclass(frozen=True)
class KeyEntry:
    """A key and what it does."""

    command: str
    """Id of the command."""
    keys: str
    label: str
    possible: bool
    """False where the command is not possible now."""


class KeyBar(Widget):
    """Keys and labels of the commands of this mode; those that are not possible now are dim.

    Args:
        entries: gives what is listed, in order.
        run: runs a command by its id.
        words: gives what stands before the entries, and its style.
    """

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; }"

    def __init__(
        self,
        entries: Callable[[], Sequence[KeyEntry]],
        run: Callable[[str], None],
        words: Callable[[], tuple[str, str]] = lambda: ("", ""),
    ) -> None:
        super().__init__()
        self._read_words = words
        self._read_entries = entries
        self._run_command = run

    def refresh_text(self) -> None:
        """Draw again."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click on an entry does it."""
        if command := event.style.meta.get("command"):
            self._run_command(command)

    def render(self) -> Content:
        """As many entries as fit, whole."""
        gap = " " * (3 if self.size.width >= _ROOMY else 2)
        words, style = self._read_words()
        words = elide_end(words, self.size.width - 2)
        entries = Content.assemble(" ", (words, style), gap if words else "")
        for key in self._read_entries():
            entry = Content.assemble(
                (key.keys, "bold $accent" if key.possible else "$faint"),
                (f" {key.label}", "$soft" if key.possible else "$faint"),
            ).stylize(Style.from_meta({"command": key.command}))
            if cell_len(entries.plain) + cell_len(entry.plain) + 2 > self.size.width:
                break
            entries = Content.assemble(entries, entry, gap)
        return entries
