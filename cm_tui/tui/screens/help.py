"""Help for the mode on screen: what it is for, every key, why a command is not possible now."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from cm_tui.tui.widgets.split import Page, Words
from cm_tui.tui.widgets.text import fit

KEY = 8
"""Cells for a key."""
LABEL = 16


@dataclass(frozen=True)
class HelpRow:
    """A command as help lists it."""

    keys: str
    label: str
    help: str
    reason: str | None
    """Why it is not possible now."""


class HelpScreen(ModalScreen[None]):
    """All commands of a mode.

    Args:
        title: what the mode is called.
        intro: what it is for.
        here: the commands of the mode.
        everywhere: those that every mode has.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,f1", "dismiss_help", "Close", show=False),
    ]

    def __init__(self, title: str, intro: str, here: Sequence[HelpRow], everywhere: Sequence[HelpRow]) -> None:
        super().__init__()
        self._title = title
        self._intro = intro
        self._here = here
        self._everywhere = everywhere

    def compose(self) -> ComposeResult:
        """A box with the text; it scrolls."""
        with Vertical(id="help-box") as box:
            box.border_title = Content(f" Help · {self._title} ")
            box.border_subtitle = Content(" esc closes · change keys in config.toml, [tui.keys] ")
            with Page(id="help-scroll"):
                yield Words(Content(self._intro.strip()), id="help-intro")
                yield Words(id="help-mode")
                yield Words(id="help-everywhere")

    def on_mount(self) -> None:
        """Arrow keys scroll at once."""
        self.query_one("#help-scroll").focus()

    def action_dismiss_help(self) -> None:
        """Back to the mode."""
        self.dismiss()

    def on_resize(self) -> None:
        """Wrap to the width there is."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        width = max(40, self.query_one("#help-scroll").size.width - 2)
        self.query_one("#help-mode", Words).update(_section("In this mode", self._here, width))
        self.query_one("#help-everywhere", Words).update(_section("Everywhere", self._everywhere, width))


def _section(heading: str, rows: Sequence[HelpRow], width: int) -> Content:
    lines = [Content.styled(heading, "bold $primary")]
    for row in rows:
        lines.extend(_lines(row, width))
    return Content("\n").join(lines)


def _lines(row: HelpRow, width: int) -> list[Content]:
    words = [(line, "$soft") for line in textwrap.wrap(row.help, width - KEY - LABEL)]
    if row.reason:
        words += [(line, "$warning") for line in textwrap.wrap(f"not now: {row.reason}", width - KEY - LABEL)]
    lines = []
    for index, (line, style) in enumerate(words):
        keys, label = ("", "") if index else (row.keys, row.label)
        lines.append(
            Content.assemble((fit(keys, KEY), "bold $accent"), (fit(label, LABEL), "$foreground"), (line, style))
        )
    return lines
