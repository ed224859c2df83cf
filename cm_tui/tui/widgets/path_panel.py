"""A panel that is titled with a path, of which the file's name is seen at any width."""

from __future__ import annotations

from textual.containers import Vertical
from textual.content import Content

from cm_tui.tui.widgets.text import elide_path, one_line

_FRAME = 6
"""Cells of a border that a title cannot have."""


class PathPanel(Vertical):
    """Fits its title to its width."""

    _path = ""

    def show_path(self, path: str) -> None:
        """Title the panel with a path."""
        self._path = one_line(path)
        self._title()

    def show_title(self, words: str) -> None:
        """Title it with words."""
        self._path = ""
        self.border_title = Content(words)

    def on_resize(self) -> None:
        """The path at the new width."""
        if self._path:
            self._title()

    def _title(self) -> None:
        width = self.outer_size.width - _FRAME
        self.border_title = Content(elide_path(self._path, width) if width > 0 else self._path)
