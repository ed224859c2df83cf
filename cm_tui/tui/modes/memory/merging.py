"""Making one entry of two that say nearly the same: both are shown side by side first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.model import Duplicates, Entry, MemoryChange
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.memory.facts import who
from cm_tui.tui.modes.memory.signs import title_of
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.screens.question import Option, Question, ask, side_by_side
from cm_tui.tui.screens.undo import do_undoable
from cm_tui.tui.widgets.prose import ProseList
from cm_tui.tui.widgets.text import elide_end, one_line

_TITLE = 50


def _facts(entry: Entry, only: Sequence[str]) -> Content:
    """Return whose it is, and the words that the other one lacks."""
    scope = "all projects" if entry.scope == "user" else "this project"
    whose = f" {who(entry.actor, entry.agent)}, {local_day(entry.timestamp / 1000)}, {scope}"
    words = one_line(", ".join(only)) or "nothing"
    return Content.assemble((whose, "$soft"), "\n", (f" only here: {words}", "$muted"))


def merge(screen: MemoryView, pairs: Sequence[Duplicates]) -> None:
    """Show the likest pair of entries, and merge them where a person says so."""
    pair = pairs[0]

    def done(change: MemoryChange) -> None:
        screen.pending = ("entry", change.id)
        screen.told(change.words, undoable=bool(change.change))

    def merge_into(stays: Entry, goes: Entry) -> None:
        do_undoable(
            screen, lambda engine: engine.merge_entries([stays.id, goes.id]), done,
            title=title_of(stays), about={goes.id: title_of(goes)},
        )  # fmt: skip

    options = [
        Option("Leave both", "escape"),
        Option("Merge into the first", "1", lambda: merge_into(pair.first, pair.second)),
        Option("Merge into the second", "2", lambda: merge_into(pair.second, pair.first)),
    ]
    sides = side_by_side(
        *(_side(screen, *side) for side in ((pair.first, pair.only_first), (pair.second, pair.only_second)))
    )
    title, subtitle = f" {pair.likeness:.0%} alike ", " one entry gets the other's text; u undoes it "
    ask(screen, Question("", options, title=title, subtitle=subtitle, body=sides, look="sides"))


def _side(screen: MemoryView, entry: Entry, only: Sequence[str]) -> tuple[str, Sequence[Widget]]:
    """Return the title of an entry's panel, what is known of it, and its text."""
    work = partial(screen.cm.tasks.work, topic=f"memory.merge-{entry.id}")
    facts = Static(_facts(entry, only), classes="merge-facts", markup=False)
    text = ProseList(work, entry.content, empty="It has no text.")
    return f"{entry.category}: {elide_end(title_of(entry), _TITLE)}", (facts, text)
