"""What the panel says of what an agent wishes to do with an entry: who, why, and both texts as a diff."""

from __future__ import annotations

import time
from collections.abc import Iterator
from difflib import unified_diff

from textual.content import Content

from cm_tui.model import Entry, Proposal
from cm_tui.model.dates import age, local_minute
from cm_tui.tui.modes.review.detail_lines import BLANK, DetailLine, text_lines
from cm_tui.tui.modes.review.diff_lines import diff_lines
from cm_tui.tui.modes.review.signs import flat
from cm_tui.tui.widgets.text import one_line

_WISHES = {"write": "would write for all projects", "change": "would change", "forget": "would forget"}


def wish_lines(wish: Proposal, width: int, *, refused: str = "") -> list[DetailLine]:
    """Return the lines of what an agent wishes to do.

    Args:
        wish: what it is.
        width: in cells.
        refused: why the last decision on it was not done.
    """
    return [*_head(wish, width, refused), BLANK, *_texts(wish, width)]


def _head(wish: Proposal, width: int, refused: str) -> Iterator[DetailLine]:
    agent = one_line(wish.agent) or "an agent"
    what = f"{agent} {_WISHES[wish.kind]} the {wish.of} {one_line(wish.target)}"
    yield from text_lines(what, width, "bold $warning", lead="? ")
    session = f" · session {flat(wish.session, 40)}" if wish.session else ""
    yield from text_lines(
        f"{local_minute(wish.time)}, {age(time.time() - wish.time)}{session}", width, "$soft", lead="  "
    )
    if refused:
        yield from text_lines(flat(refused), width, "$warning", lead="▲ ")
    if wish.reason:
        yield BLANK
        yield from text_lines(flat(wish.reason), width, lead="Why  ")


def _texts(wish: Proposal, width: int) -> Iterator[DetailLine]:
    before, after = _text(wish.before), _text(wish.after)
    if wish.of != "entry":
        yield from text_lines(wish.words, width)
        return
    diff = "\n".join(unified_diff(before, after, n=3, lineterm=""))
    yield from (DetailLine(line) for line in diff_lines("\n".join(diff.split("\n")[2:]), width))
    if wish.after is None:
        yield DetailLine(Content.styled("It would be forgotten; d in Memory brings it back.", "$muted"))


def _text(entry: Entry | None) -> list[str]:
    if entry is None:
        return []
    return [f"[{entry.category}] {entry.title}", "", *entry.content.splitlines()]
