"""Which sections of a topic make a new one, and what that is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})")


@dataclass(frozen=True)
class SectionRow:
    """A section."""

    name: str
    level: int
    lines: int
    """Up to the next heading."""


class Wanted(NamedTuple):
    """What is to be split off.

    Attributes:
        headings: of the sections that move.
        title: of the new topic; empty: the first heading.
    """

    headings: tuple[str, ...]
    title: str


def sections_of(text: str) -> list[SectionRow]:
    """Return the sections of a note, without its title."""
    found = list(_headings(text.splitlines()))
    ends = [*(at for at, _, _ in found[1:]), text.count("\n") + 1]
    rows = [SectionRow(name, level, end - at) for (at, level, name), end in zip(found, ends, strict=False)]
    return rows[1:] if rows and rows[0].level == 1 else rows


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    fence = ""
    for number, line in enumerate(lines):
        if found := _FENCE.match(line):
            mark = found.group(1)
            fence = mark[:3] if not fence else "" if mark.startswith(fence) else fence
        elif not fence and (heading := _HEADING.match(line)) and heading.group(2):
            yield number, len(heading.group(1)), heading.group(2)


class SectionList(RowList[SectionRow]):
    """Sections, some of them marked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "choose", show=False)]
    marked: frozenset[int] = frozenset()

    def draw(self, row: SectionRow, width: int) -> Content:
        """Mark, heading, lines."""
        is_marked = any(self.rows[place] is row for place in self.marked)
        name = elide_end(one_line(row.name), max(6, width - 16 - 2 * row.level))
        lead = "  " * max(0, row.level - 2)
        return Content.assemble(
            (" ▪ " if is_marked else " · ", "$accent" if is_marked else "$faint"), lead,
            (name, "bold $foreground" if is_marked else "$foreground"), (f"  {row.lines} lines", "$muted"),
        )  # fmt: skip


class SplitDialog(ModalScreen[Wanted | None]):
    """Asks which sections move, and for a title; None when the person turns away.

    Args:
        name: of the topic.
        rows: its sections.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "turn_away", show=False),
        Binding("ctrl+s", "save", show=False, priority=True),
    ]

    def __init__(self, name: str, rows: Sequence[SectionRow]) -> None:
        super().__init__()
        self._topic = name
        self._rows = rows

    def compose(self) -> ComposeResult:
        """The sections, the title, what is wrong."""
        with Vertical(id="split-box") as box:
            box.border_title = Content(f" Split {elide_end(one_line(self._topic), 50)} ")
            box.border_subtitle = Content(" space marks what moves · ctrl+s splits · esc leaves ")
            yield SectionList(id="split-list")
            yield Input(
                placeholder="title of the new topic: empty for the first heading", id="split-title", compact=True
            )
            yield Static(id="split-hint", markup=False)

    def on_mount(self) -> None:
        """The first section."""
        self.query_one(SectionList).set_rows(self._rows)
        self.query_one(SectionList).focus()

    @on(SectionList.Chosen)
    def _mark(self, event: SectionList.Chosen) -> None:
        event.stop()
        sections = self.query_one(SectionList)
        sections.marked = sections.marked ^ {sections.cursor}
        sections.redraw()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Hand over what is marked."""
        marked = self.query_one(SectionList).marked
        if not marked:
            self.query_one("#split-hint", Static).update(Content.styled("Mark what moves first: space.", "$error"))
            return
        names = tuple(row.name for place, row in enumerate(self._rows) if place in marked)
        self.dismiss(Wanted(names, self.query_one(Input).value.strip()))

    def action_turn_away(self) -> None:
        """Split nothing."""
        self.dismiss(None)
