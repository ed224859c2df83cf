"""The input of a question: pasted lines are all kept, in one line."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

MOST = 2_000
"""Characters that are kept of what is pasted."""


class QueryInput(Input):
    """An input that takes pasted lines; Textual's own keeps the first one alone."""

    _pasted = ""
    _lines = 0

    @property
    def pasted_lines(self) -> int:
        """How many lines were pasted that are still there; 0 for one line, which looks as it was."""
        return self._lines if self._lines > 1 and self._pasted in self.value else 0

    @property
    def is_cut(self) -> bool:
        """True while what is there of a paste is not all of it."""
        return bool(self.pasted_lines) and len(self._pasted) == MOST

    def _on_paste(self, event: events.Paste) -> None:
        if len(event.text.splitlines()) < 2:
            return
        # Textual calls its own handler after this one, which keeps the first line.
        event.prevent_default()
        event.stop()
        lines = [words for line in event.text.splitlines() if (words := " ".join(line.split()))]
        self._pasted, self._lines = " ".join(lines)[:MOST], len(lines)
        self.replace(self._pasted, *self.selection)
