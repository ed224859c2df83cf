"""The top line: modes as tabs, the project, and how far the index is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget


@dataclass(frozen=True)
class ModeTab:
    """A mode in the top line."""

    mode: str
    label: str
    current: bool
    """True for the mode on screen."""


@dataclass(frozen=True)
class Fact:
    """A few words about the project."""

    place: int
    """Where it stands among the others, from the left."""
    text: str
    style: str


class Header(Widget):
    """One line: ` cm  1 Overview  2 Search …            project ⎇ branch · counts · mode`.

    Args:
        tabs: gives the modes.
        facts: gives what is said of the project, the most important first.
        choose: shows a mode.
    """

    DEFAULT_CSS = "Header { dock: top; height: 1; }"

    def __init__(
        self,
        tabs: Callable[[], Sequence[ModeTab]],
        facts: Callable[[], Sequence[Fact]],
        choose: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._read_tabs = tabs
        self._read_facts = facts
        self._choose = choose

    def refresh_text(self) -> None:
        """Draw again."""
        self.refresh()

    def render(self) -> Content:
        """Tabs on the left, what there is room for on the right."""
        tabs = self._tabs()
        room = self.size.width - cell_len(tabs.plain) - 2
        facts = self._facts(room)
        gap = max(1, self.size.width - cell_len(tabs.plain) - cell_len(facts.plain) - 1)
        return Content.assemble(tabs, " " * gap, facts)

    def on_click(self, event: events.Click) -> None:
        """A click on a tab shows its mode."""
        if mode := event.style.meta.get("mode"):
            self._choose(mode)

    def _tabs(self) -> Content:
        parts: list[Content | tuple[str, str | Style]] = [(" cm ", "bold $accent"), (" ", "")]
        for number, tab in enumerate(self._read_tabs(), start=1):
            style = "bold $block-cursor-foreground on $block-cursor-background" if tab.current else "$muted"
            number_style = "bold $accent on $block-cursor-background" if tab.current else "$accent"
            content = Content.assemble((f" {number}", number_style), (f" {tab.label} ", style))
            parts.append(content.stylize(Style.from_meta({"mode": tab.mode})))
        return Content.assemble(*parts)

    def _facts(self, room: int) -> Content:
        """The most important facts that fit, in the order of the screen."""
        kept: list[Fact] = []
        for fact in self._read_facts():
            if sum(cell_len(other.text) + 3 for other in kept) + cell_len(fact.text) <= room:
                kept.append(fact)
        dot = Content.styled(" · ", "$faint")
        return dot.join(Content.styled(fact.text, fact.style) for fact in sorted(kept, key=lambda fact: fact.place))
