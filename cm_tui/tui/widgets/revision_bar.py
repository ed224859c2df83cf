"""The line that says, in every mode, that a past revision is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from cm_tui.tui.widgets.text import elide_end, one_line


@dataclass(frozen=True)
class RevisionWords:
    """What is said of a past revision."""

    text: str
    back_key: str
    """The key that leads back to now."""


class RevisionBar(Widget):
    """Which revision is shown, whether this mode shows it, and the key that leads back; a click does that too.

    Args:
        words: gives what is said; None while now is shown.
        leave: leads back to now.
    """

    DEFAULT_CSS = """
    RevisionBar { height: 1; display: none; background: $warning 14%; color: $foreground; }
    RevisionBar.-past { display: block; }
    """

    def __init__(self, words: Callable[[], RevisionWords | None], leave: Callable[[], None]) -> None:
        super().__init__()
        self._read_words = words
        self._leave = leave

    def refresh_text(self) -> None:
        """Draw again, or go away."""
        self.set_class(self._read_words() is not None, "-past")
        self.refresh()

    def render(self) -> Content:
        """`◀ PAST  #3,112 · 2021-03-04 · 1a2b3c4d · subject        0 back to now`."""
        words = self._read_words()
        if words is None:
            return Content("")
        lead = " ◀ PAST  "
        back = f" {words.back_key} back to now "
        room = self.size.width - cell_len(lead) - cell_len(back)
        text = elide_end(one_line(words.text), room)
        gap = " " * max(0, room - cell_len(text))
        return Content.assemble((lead, "bold $warning"), text, gap, (back, "bold $accent"))

    def on_click(self) -> None:
        """Back to now."""
        self._leave()
