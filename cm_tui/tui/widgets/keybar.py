"""The bottom line: keys that do something here, whole entries only, help first."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

if TYPE_CHECKING:
    from cm_tui.tui.app.app import CmApp
    from cm_tui.tui.screens.mode_screen import ModeScreen

_ROOMY = 100
"""Columns from which on entries stand further apart."""


class KeyBar(Widget):
    """Keys and labels of the commands of this mode; those that are not possible now are dim."""

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; }"

    def refresh_text(self) -> None:
        """Draw again."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click on an entry does it."""
        if command := event.style.meta.get("command"):
            cast("ModeScreen", self.screen).action_command(command)

    def render(self) -> Content:
        """As many entries as fit, whole."""
        screen = cast("ModeScreen", self.screen)
        cm = cast("CmApp", self.app)
        entries = Content(" ")
        gap = " " * (3 if self.size.width >= _ROOMY else 2)
        commands = sorted(
            (command for command in screen.all_commands() if command.in_bar(screen)),
            key=lambda command: command.id != "app.help",
        )
        for command in commands:
            possible = command.why_not(screen) is None
            meta = Style.from_meta({"command": command.id})
            entry = Content.assemble(
                (cm.keys_of(command), "bold $accent" if possible else "$faint"),
                (f" {command.label}", "$soft" if possible else "$faint"),
            ).stylize(meta)
            if cell_len(entries.plain) + cell_len(entry.plain) + 2 > self.size.width:
                break
            entries = Content.assemble(entries, entry, gap)
        return entries
