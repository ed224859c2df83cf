"""Two parts of a mode with a border that can be moved."""

from __future__ import annotations

from math import ceil

from textual.containers import Container
from textual.widget import Widget

LEAST, MOST, STEP = 20, 80, 4


class Split(Container):
    """The first part takes a share of the room, the second one the rest: side by side, or one above the other.

    Which of the two it is, the style sheet says by `layout`. A share that was never changed is the style sheet's too.
    """

    DEFAULT_CSS = "Split { height: 1fr; }"
    share: int | None = None
    """Per cent; None: as the style sheet has it."""

    def set_share(self, share: object) -> None:
        """Take a share, such as one that was remembered; anything that is none leaves it to the style sheet."""
        self.share = max(LEAST, min(MOST, share)) if isinstance(share, int) else None
        self.apply()

    def widen(self, steps: int) -> None:
        """Give the first part more room, or less; a step is at least a line."""
        first = self._first.outer_size
        whole, part = (self.size.height, first.height) if self._stacked else (self.size.width, first.width)
        now = self.share if self.share is not None else round(100 * part / max(1, whole))
        self.set_share(now + steps * max(STEP, ceil(100 / max(1, whole))))

    def apply(self) -> None:
        """Lay out by the share."""
        styles = self._first.styles
        styles.clear_rule("width")
        styles.clear_rule("height")
        if self.share is None or self.screen.has_class("-zoomed"):
            return
        if self._stacked:
            styles.height = f"{self.share}%"
        else:
            styles.width = f"{self.share}%"

    def on_resize(self) -> None:
        """Which way the parts stand may depend on the size."""
        self.call_after_refresh(self.apply)

    @property
    def _first(self) -> Widget:
        return self.children[0]

    @property
    def _stacked(self) -> bool:
        layout = self.styles.layout
        return layout is not None and layout.name == "vertical"
