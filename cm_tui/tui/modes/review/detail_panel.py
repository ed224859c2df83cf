"""The panel on the right: what the cursor is on, laid out for the width that there is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, zip_longest

from rich.cells import cell_len
from textual import getters
from textual.app import ComposeResult
from textual.content import Content

from cm_tui.tui.screens.mode_screen import ModePanel
from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.sourcelist import MARGIN, prose_lines
from cm_tui.tui.widgets.text import count, elide_path, fit, wrapped

MOST_LINES = 400
"""Lines of a text that are shown."""
_APART = 3


@dataclass(frozen=True)
class DetailLine:
    """A line, and where Enter leads from it."""

    content: Content
    goal: str = ""
    """`episode:ID SESSION`, `note:ID`; empty: nowhere."""


BLANK = DetailLine(Content(""))


def title(words: str, more: str = "") -> DetailLine:
    """Return the heading of a part."""
    return DetailLine(Content.assemble((words, "bold $primary"), (f"  {more}" if more else "", "$muted")))


def text_lines(text: str, width: int, style: str = "", *, lead: str = "", goal: str = "") -> Iterator[DetailLine]:
    """Yield wrapped prose.

    Args:
        text: untrusted.
        width: in cells.
        style: of all of it.
        lead: stands before the first line; the others are as far from the edge.
        goal: where Enter leads.
    """
    room = max(8, width - cell_len(lead))
    before = lead
    for line in prose_lines(text, room + MARGIN, most=MOST_LINES):
        yield DetailLine(Content.assemble((before, "$muted"), (line.text, style)), goal)
        before = " " * cell_len(lead)


def side_by_side(left: tuple[str, str], right: tuple[str, str], width: int) -> Iterator[DetailLine]:
    """Yield two texts below their headings in two columns.

    Args:
        left: heading and text.
        right: the same of the other.
        width: in cells.
    """
    room = (width - _APART) // 2
    columns = [
        [Content.styled(fit(name, room), "$muted"), *(line.content for line in text_lines(text, room))]
        for name, text in (left, right)
    ]
    for one, other in zip_longest(*columns, fillvalue=Content("")):
        gap = " " * (room - cell_len(one.plain) + 1)
        yield DetailLine(Content.assemble(one, gap, ("│", "$faint"), " ", other))


MOST = 600
"""Lines of a diff that are shown."""
_MARK = "<!-- cm:narrator"
_NOWHERE = "/dev/null"
_STYLES = {"+": "$success", "-": "$error"}


def diff_lines(diff: str, width: int, *, alone: str = "") -> Iterator[Content]:
    """Yield a diff as lines.

    Args:
        diff: unified.
        width: in cells.
        alone: a file named elsewhere; its name is omitted unless the file is new.
    """
    lines = [line.plain for line in plain_lines(diff.rstrip("\n"))] if diff else []
    skipped = False
    for number, (line, following) in enumerate(pairwise([*lines, ""])):
        if number >= MOST:
            yield Content.styled(f"… and {count(len(lines) - MOST, 'more line')}", "$muted")
            return
        if line.startswith("--- ") and following.startswith("+++ "):
            yield from _file(line[4:].strip(), following[4:].strip(), width, alone)
            skipped = False
        elif line.startswith("+++ ") and number and lines[number - 1].startswith("--- "):
            continue
        elif line.startswith("@@"):
            # No gap mark before a file's first hunk.
            if skipped:
                yield Content.styled("⋯", "$faint")
            skipped = True
        else:
            yield from _line(line, width)


def _file(old: str, new: str, width: int, alone: str) -> Iterator[Content]:
    name = old if new == _NOWHERE else new
    became = "new" if old == _NOWHERE else "deleted" if new == _NOWHERE else ""
    if became or name != alone:
        state = f"  {became}" if became else ""
        yield Content.assemble((elide_path(name, max(8, width - len(state))), "bold $secondary"), (state, "$warning"))


def _line(line: str, width: int) -> Iterator[Content]:
    sign, text = line[:1] or " ", line[1:]
    if sign == "\\":
        yield Content.styled(f"  {text.strip()}", "$faint")
        return
    style = _STYLES.get(sign, "$soft")
    # Where a line came from stands at its end, and is nothing that anybody reads.
    left = _inked(text.partition(_MARK)[0]) if _MARK in text else len(text)
    for place, piece in enumerate(wrapped(text, max(8, width - 2))):
        text_ = _first(piece, left)
        left -= _inked(text_)
        yield Content.assemble((f"{sign if place == 0 else ' '} {text_}", style), (piece[len(text_) :], "$muted"))


def _inked(text: str) -> int:
    """Return how many characters are no blanks: where a line is broken, those go."""
    return sum(not one.isspace() for one in text)


def _first(piece: str, many: int) -> str:
    """Return a piece up to so many characters that are no blanks."""
    for place, one in enumerate(piece):
        many -= not one.isspace()
        if many < 0:
            return piece[:place]
    return piece


Lay = Callable[[int], list[DetailLine]]
"""Lays something out for a width in cells."""
NOTHING = "Details of the selected row are shown here."


class DetailList(RowList[DetailLine]):
    """Lines with a cursor, as long as the list has the focus."""

    is_text = True

    def draw(self, row: DetailLine, width: int) -> Content:  # noqa: ARG002 - lines were laid out for this width
        """One line."""
        return Content.assemble(" ", row.content)

    def to_goal(self) -> None:
        """Put the cursor on the first line that leads to an episode."""
        self.cursor = next(
            (place for place, row in enumerate(self.rows) if row.goal.startswith("episode:")), self.cursor
        )


class DetailPanel(ModePanel):
    """Shows lines that are laid out on a worker thread."""

    _lay: Lay | None = None
    _about: Hashable = None
    _width = 0

    def compose(self) -> ComposeResult:
        """The lines."""
        yield DetailList(id="detail-lines", empty=NOTHING)

    lines = getters.query_one(DetailList)

    def show(self, about: Hashable, lay: Lay) -> None:
        """Show a record; the same record keeps its scroll position.

        Args:
            about: names it.
            lay: lays it out.
        """
        keep, self._about, self._lay = about == self._about, about, lay
        self._draw(keep=keep)

    def clear(self, words: str = NOTHING) -> None:
        """Show nothing."""
        self._about = self._lay = None
        self.label("", "")
        self.lines.set_rows((), empty=words)

    def _draw(self, *, keep: bool) -> None:
        lay, about = self._lay, self._about
        self._width = self.lines.scrollable_content_region.width - 1
        if lay is None or self._width <= 0:
            return

        def got(lines: list[DetailLine]) -> None:
            if about != self._about:
                return
            above = self.lines.scroll_offset.y
            self.lines.set_rows(lines, cursor=self.lines.cursor if keep else 0, empty="")
            self.call_after_refresh(
                self.lines.scroll_to, 0, above if keep else 0, animate=False, force=True, immediate=True
            )

        self.mode.cm.tasks.work(partial(lay, self._width), got, topic="review.lines")

    def on_resize(self) -> None:
        """The same at the new width."""
        self.call_after_refresh(self._redraw)

    def on_show(self) -> None:
        """What came while there was no room."""
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        if self._width != self.lines.scrollable_content_region.width - 1:
            self._draw(keep=True)
