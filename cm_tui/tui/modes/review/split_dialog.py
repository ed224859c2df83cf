"""Which sections of a topic make a new one, and what that is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.tui.screens.list_dialog import ListDialog
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


class SplitDialog(ListDialog[SectionRow]):
    """Asks which sections move, and for a title.

    Args:
        name: of the topic.
        rows: its sections.
        split: gets the answer.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", show=False, priority=True)]

    def __init__(self, name: str, rows: Sequence[SectionRow], split: Callable[[Wanted], object]) -> None:
        self._sections, self._split = SectionList(id="split-list"), split
        title, hint = (
            f" Split {elide_end(one_line(name), 50)} ",
            " space marks what moves · ctrl+s splits · esc leaves ",
        )
        super().__init__(title, hint, rows, self._sections, look="small")

    def below(self) -> Iterable[Widget]:
        """The title."""
        yield Input(placeholder="title of the new topic: empty for the first heading", id="split-title", compact=True)

    def choose(self, row: SectionRow) -> None:  # noqa: ARG002 - the one under the cursor
        """Mark a section, or not any more."""
        self._sections.marked ^= {self._sections.cursor}
        self._sections.redraw()

    @on(Input.Submitted)
    def _submitted_title(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_save()

    def action_save(self) -> None:
        """Hand over what is marked."""
        names = tuple(row.name for place, row in enumerate(self._sections.rows) if place in self._sections.marked)
        if names:
            self.dismiss(partial(self._split, Wanted(names, self.query_one(Input).value.strip())))
        else:
            self.note(Content.styled("Mark what moves first: space.", "$error"))
