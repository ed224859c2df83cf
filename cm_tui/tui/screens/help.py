"""Help for the mode on screen: what it is for, every key, why a command is not possible now."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from cm_tui.tui.widgets.text import fit

if TYPE_CHECKING:
    from cm_tui.tui.app.app import CmApp
    from cm_tui.tui.screens.commands import Command
    from cm_tui.tui.screens.mode_screen import ModeScreen

KEY = 8
"""Cells for a key."""
LABEL = 16


class HelpScreen(ModalScreen[None]):
    """All commands of a mode.

    Args:
        mode: the screen that help was asked for.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,f1", "dismiss_help", "Close", show=False),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, mode: ModeScreen) -> None:
        super().__init__()
        self._mode = mode

    def compose(self) -> ComposeResult:
        """A box with the text; it scrolls."""
        cm = cast("CmApp", self.app)
        title = cm.MODE_TITLES.get(self._mode.MODE, "cm")
        with Vertical(id="help-box") as box:
            box.border_title = Content(f" Help · {title} ")
            box.border_subtitle = Content(" esc closes · keys can be changed in config.toml, [tui.keys] ")
            with VerticalScroll(id="help-scroll"):
                yield Static(Content(self._mode.INTRO.strip()), id="help-intro")
                yield Static("", id="help-mode")
                yield Static("", id="help-everywhere")

    def on_mount(self) -> None:
        """Arrow keys scroll at once."""
        self.query_one("#help-scroll").focus()

    def action_dismiss_help(self) -> None:
        """Back to the mode."""
        self.dismiss()

    def action_down(self) -> None:
        """Scroll down a line."""
        self.query_one("#help-scroll").scroll_down(animate=False)

    def action_up(self) -> None:
        """Scroll up a line."""
        self.query_one("#help-scroll").scroll_up(animate=False)

    def on_resize(self) -> None:
        """Wrap to the width there is."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        width = max(40, self.query_one("#help-scroll").size.width - 2)
        self.query_one("#help-mode", Static).update(self._rows("In this mode", self._mode.COMMANDS_HERE, width))
        cm = cast("CmApp", self.app)
        self.query_one("#help-everywhere", Static).update(self._rows("Everywhere", cm.APP_COMMANDS, width))

    def _rows(self, heading: str, commands: tuple[Command, ...], width: int) -> Content:
        rows = [Content.styled(heading, "bold $primary")]
        for command in commands:
            rows.extend(self._row(command, width))
        return Content("\n").join(rows)

    def _row(self, command: Command, width: int) -> list[Content]:
        cm = cast("CmApp", self.app)
        reason = command.why_not(self._mode)
        words = [(line, "$soft") for line in textwrap.wrap(command.help, width - KEY - LABEL)]
        if reason:
            words += [(line, "$warning") for line in textwrap.wrap(f"not now: {reason}", width - KEY - LABEL)]
        rows = []
        for index, (line, style) in enumerate(words):
            key, label = ("", "") if index else (cm.keys_of(command), command.label)
            rows.append(
                Content.assemble((fit(key, KEY), "bold $accent"), (fit(label, LABEL), "$foreground"), (line, style))
            )
        return rows
