"""The top line: modes as tabs, the project, and how far the index is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.style import Style
from textual.widget import Widget

from cm_tui.tui.widgets.text import elide_end, elide_middle, fit, one_line

_WANTED = (4, 3, 2)
"""Facts that the tabs leave room for: as many of them as fit. The names of some modes go before the second one."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
"""Counts are raised, so that none is taken for the key of the next mode."""
_FACTS = 18
"""Columns that names leave for facts, so that none comes and goes with what the index does."""
_LEAST_CUT = 8
"""Cells of a name that are worth showing."""


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
    short: str = ""
    """Said instead where there is less room; empty: it is said as it is, or not at all."""
    cut: bool = False
    """May be cut in the middle where even that has no room, as a name may."""


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

    def render(self) -> Content:
        """Tabs on the left, what there is room for on the right."""
        tabs = self._fitting_tabs()
        room = self.size.width - cell_len(tabs.plain) - 2
        facts = self._facts(room)
        gap = max(1, self.size.width - cell_len(tabs.plain) - cell_len(facts.plain) - 1)
        return Content.assemble(tabs, " " * gap, facts)

    def _fitting_tabs(self) -> Content:
        """The modes in full, then closer together, then the names of the first, as many in every mode."""
        facts = [fact.short or fact.text for fact in self._read_facts()]
        needed = [self.size.width - 2 - _width(*facts[:most]) for most in _WANTED]
        # Blanks between the names are worth less than a third fact.
        roomy, close = self._tabs(), self._tabs(close=True)
        whole = [(tabs, room) for room in needed[:-1] for tabs in (roomy, close)] + [(close, needed[-1])]
        if fitting := next((tabs for tabs, room in whole if cell_len(tabs.plain) <= room), None):
            return fitting
        tabs, room = list(self._read_tabs()), min(needed[-1], self.size.width - _FACTS)
        named = next((most for most in range(len(tabs), 0, -1) if self._widest(tabs, most) <= room), 0)
        return self._tabs(close=True, named={tab.mode for n, tab in enumerate(tabs) if n < named or tab.current})

    def _widest(self, tabs: Sequence[ModeTab], named: int) -> int:
        """Return the cells of so many names, with the longest of the others: it is that of the mode on screen."""
        longest = max(tabs[named:], key=lambda tab: len(tab.label), default=tabs[0])
        shown = self._tabs(close=True, named={longest.mode, *(tab.mode for tab in tabs[:named])})
        return cell_len(shown.plain)

    def on_click(self, event: events.Click) -> None:
        """A click on a tab shows its mode."""
        if mode := event.style.meta.get("mode"):
            self._choose(mode)

    def _tabs(self, *, close: bool = False, named: set[str] | None = None) -> Content:
        """The modes; `close`: with one blank between them; `named`: those with their names, all when None."""
        parts: list[Content | tuple[str, str | Style]] = [] if close else [(" cm ", "bold $accent"), (" ", "")]
        for number, tab in enumerate(self._read_tabs(), start=1):
            style = "bold $block-cursor-foreground on $block-cursor-background" if tab.current else "$muted"
            number_style = "bold $accent on $block-cursor-background" if tab.current else "$accent"
            name, _, waiting = tab.label.partition(" ")
            name, waiting = name if named is None or tab.mode in named else "", waiting.translate(_RAISED)
            lead = f"{number} " if name else str(number)
            lead = lead if close and number > 1 else f" {lead}"
            counted = [(name, style), (waiting, style.replace("$muted", "$warning")), (" ", style)]
            content = Content.assemble((lead, number_style), *(counted if waiting else [(f"{name} ", style)]))
            parts.append(content.stylize(Style.from_meta({"mode": tab.mode})))
        return Content.assemble(*parts)

    def _facts(self, room: int) -> Content:
        """The most important facts that fit, in the order of the screen."""
        facts = self._read_facts()
        fitting: list[int] = []
        for index, fact in enumerate(facts):
            if _width(*(facts[one].short or facts[one].text for one in fitting), fact.short or fact.text) <= room:
                fitting.append(index)
        # Those that fit are said in full as far as there is room, the most important first.
        texts = {index: facts[index].short or facts[index].text for index in fitting}
        for index, fact in enumerate(facts):
            if index not in texts and fact.cut and (left := room - _width(*texts.values(), "")) >= _LEAST_CUT:
                texts[index] = elide_middle(fact.text, left)
        for index in fitting:
            longer = {**texts, index: facts[index].text}
            if _width(*longer.values()) <= room:
                texts = longer
        dot = Content.styled(" · ", "$faint")
        order = sorted(texts, key=lambda index: facts[index].place)
        return dot.join(Content.styled(texts[index], facts[index].style) for index in order)


def _width(*texts: str) -> int:
    """Return the cells that facts take, with what stands between them."""
    return sum(cell_len(text) for text in texts) + 3 * max(0, len(texts) - 1)


_ROOMY = 100
"""Columns from which on entries stand further apart."""


@dataclass(frozen=True)
class KeyEntry:
    """A key and what it does."""

    command: str
    """Id of the command."""
    keys: str
    label: str
    possible: bool
    """False where the command is not possible now."""


class KeyBar(Widget):
    """Keys and labels of the commands of this mode; those that are not possible now are dim.

    Args:
        entries: gives what is listed, in order.
        run: runs a command by its id.
        words: gives what stands before the entries, and its style.
    """

    DEFAULT_CSS = "KeyBar { dock: bottom; height: 1; }"

    def __init__(
        self,
        entries: Callable[[], Sequence[KeyEntry]],
        run: Callable[[str], None],
        words: Callable[[], tuple[str, str]] = lambda: ("", ""),
    ) -> None:
        super().__init__()
        self._read_words = words
        self._read_entries = entries
        self._run_command = run

    def on_click(self, event: events.Click) -> None:
        """A click on an entry does it."""
        if command := event.style.meta.get("command"):
            self._run_command(command)

    def render(self) -> Content:
        """As many entries as fit, whole."""
        gap = " " * (3 if self.size.width >= _ROOMY else 2)
        words, style = self._read_words()
        words = elide_end(words, self.size.width - 2)
        entries = Content.assemble(" ", (words, style), gap if words else "")
        for key in self._read_entries():
            entry = Content.assemble(
                (key.keys, "bold $accent" if key.possible else "$faint"),
                (f" {key.label}", "$soft" if key.possible else "$faint"),
            ).stylize(Style.from_meta({"command": key.command}))
            if cell_len(entries.plain) + cell_len(entry.plain) + 2 > self.size.width:
                break
            entries = Content.assemble(entries, entry, gap)
        return entries


class RevisionBar(Widget):
    """Which revision is shown, whether this mode shows it, and the key that leads back; a click does that too.

    Args:
        words: gives what is said, and the key that leads back to now; None while now is shown.
        leave: leads back to now.
    """

    DEFAULT_CSS = """
    RevisionBar { height: 1; display: none; background: $warning 14%; color: $foreground; }
    RevisionBar.-past { display: block; }
    """

    def __init__(self, words: Callable[[], tuple[str, str] | None], leave: Callable[[], None]) -> None:
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
        lead, back = " ◀ PAST  ", f" {words[1]} back to now "
        text = fit(one_line(words[0]), self.size.width - cell_len(lead) - cell_len(back))
        return Content.assemble((lead, "bold $warning"), text, (back, "bold $accent"))

    def on_click(self) -> None:
        """Back to now."""
        self._leave()
