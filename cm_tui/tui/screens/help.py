"""Help for the mode on screen: what it is for, every key, why a command is not possible now."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from cm_tui.tui.screens.question import Option, Question
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


class HelpScreen(Question):
    """All commands of a mode.

    Args:
        title: what the mode is called.
        intro: what it is for.
        here: the commands of the mode.
        everywhere: those that every mode has.
    """

    def __init__(self, title: str, intro: str, here: Sequence[HelpRow], everywhere: Sequence[HelpRow]) -> None:
        self._sections = ("In this mode", here), ("Everywhere", everywhere)
        self._page = Page(Words(Content(intro.strip())), *(Words() for _ in self._sections), id="help-scroll")
        subtitle = " esc closes · change keys in config.toml, [tui.keys] "
        closes = Option("", "escape,question_mark,q,f1")
        super().__init__("", [closes], title=f" Help · {title} ", subtitle=subtitle, body=[self._page])

    def on_resize(self) -> None:
        """Wrap to the width there is."""
        self.call_after_refresh(self._fill)

    def _fill(self) -> None:
        width = max(40, self._page.size.width - 2)
        for words, (heading, rows) in zip([*self._page.query(Words)][1:], self._sections, strict=True):
            words.update(_section(heading, rows, width))


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
