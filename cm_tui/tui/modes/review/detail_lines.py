"""Lines of the panel on the right, and the pieces that they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from textual.content import Content

from cm_tui.tui.theme.highlight import plain_lines
from cm_tui.tui.widgets.text import fit, wrapped

LONGEST = 4_000
"""Characters of a line that are shown."""
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
    for line in plain_lines(text.rstrip())[:MOST_LINES]:
        for piece in wrapped(line.plain[:LONGEST], room):
            yield DetailLine(Content.assemble((before, "$muted"), (piece, style)), goal)
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
