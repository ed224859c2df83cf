"""The input of a question: pasted lines are all kept, shown in one line and asked as they were."""

from __future__ import annotations

import re

from textual import events
from textual.widgets import Input

MOST = 20_000
"""Characters that are kept of what is pasted."""


class QueryInput(Input):
    """An input that takes pasted lines; Textual's own keeps the first one alone."""

    _shown = ""
    """The pasted lines as one line."""
    _pasted = ""
    """The same as they were."""
    _lines = 0
    _untyped = ""
    """The value as it was last restored or pasted; a paste replaces it unless the user has changed it."""

    @property
    def pasted_lines(self) -> int:
        """How many lines were pasted that are still there; 0 for one line, which looks as it was."""
        return self._lines if self._lines > 1 and self._shown in self.value else 0

    @property
    def is_cut(self) -> bool:
        """True while what is there of a paste is not all of it."""
        return bool(self.pasted_lines) and len(self._pasted) == MOST

    @property
    def query_text(self) -> str:
        """What is asked: what was typed, with the lines of a paste that is still there."""
        return (self.value.replace(self._shown, self._pasted, 1) if self.pasted_lines else self.value).strip()

    def show_query(self, text: str) -> None:
        """Show a question in place of what is there."""
        self.value = self._untyped = self._in_one_line(text)
        self.action_end()

    def _in_one_line(self, text: str) -> str:
        # Terminals send carriage returns for the ends of pasted lines.
        self._pasted = re.sub(r"\r(?!\n)", "\n", text)[:MOST]
        lines = [words for line in self._pasted.splitlines() if (words := " ".join(line.split()))]
        self._shown, self._lines = " ".join(lines), len(lines)
        return self._shown if self._lines > 1 else self._pasted

    def _on_paste(self, event: events.Paste) -> None:
        if len(event.text.splitlines()) < 2:
            return
        # Textual calls its own handler after this one, which keeps the first line.
        event.prevent_default()
        event.stop()
        where = (0, len(self.value)) if self.value == self._untyped else self.selection
        self.replace(self._in_one_line(event.text), *where)
        self._untyped = self.value

    def on_blur(self) -> None:
        """Show the beginning: a report begins with its title."""
        self.scroll_x = 0
