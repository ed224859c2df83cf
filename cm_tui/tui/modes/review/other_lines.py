"""Panel lines of items that the narrator did not propose."""

from __future__ import annotations

import time
from collections.abc import Iterator
from difflib import unified_diff

from textual.content import Content

from cm_tui.model import Entry, Proposal, StaleItem
from cm_tui.model.dates import age, local_minute
from cm_tui.tui.modes.review.detail_panel import BLANK, DetailLine, diff_lines, text_lines
from cm_tui.tui.modes.review.inbox import Other, flat
from cm_tui.tui.widgets.text import one_line

_WISHES = {"write": "would write for all projects", "change": "would change", "forget": "would forget"}


def other_lines(item: Other, width: int, *, refused: str = "") -> list[DetailLine]:
    """Return the lines about an item.

    Args:
        item: the item.
        width: in cells.
        refused: why the last decision on it failed.
    """
    record = item.record
    if isinstance(record, Proposal):
        return [*_head(record, width, refused), BLANK, *_texts(record, width)]
    lines = _outdated(record, width) if isinstance(record, StaleItem) else _included(record, width)
    wrong = text_lines(flat(refused), width, "$warning", lead="▲ ") if refused else ()
    return [*wrong, *lines]


def _outdated(item: StaleItem, width: int) -> Iterator[DetailLine]:
    name = item.path.removeprefix("entry/").removeprefix("note/")
    goal = f"note:{name}" if item.kind != "episode" else f"episode:{item.id} "
    yield from text_lines(flat(item.title), width, "bold", goal=goal)
    yield from text_lines(f"{item.kind} {one_line(item.id)}", width, "$soft")
    for one in item.flagged:
        yield BLANK
        yield from text_lines(f"line {one.line:,} {one_line(one.words)}", width, lead="† ", goal=goal)
    yield BLANK
    fix = "a writes the new name, " if any(one.became for one in item.flagged) else ""
    yield from text_lines(f"{fix}d keeps it as still true, x archives it, e opens it in Memory.", width, "$muted")


def _included(entry: Entry, width: int) -> Iterator[DetailLine]:
    yield from text_lines(f"[{entry.category}] {flat(entry.title)}", width, "bold")
    who = one_line(entry.agent) or entry.actor
    yield from text_lines(f"{local_minute(entry.timestamp / 1000)} · {who} · included in the clone", width, "$soft")
    yield BLANK
    yield from text_lines(entry.content, width)
    yield BLANK
    words = "No answer contains it. a trusts it: agents may then take it for your own words. x leaves it out."
    yield from text_lines(words, width, "$muted")


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
