"""The episodes of a session, or of all: one a row, with what came of it, and those that are selected."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from cm_tui.model import Episode
from cm_tui.model.dates import local_day
from cm_tui.tui.modes.episodes.marks import OUTCOMES, TYPES, clock, signs, weight
from cm_tui.tui.state.revision import headline
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import elide_end, one_line

_ROOMY = 44
"""Cells from which on tags and the weight of an episode are shown."""


class TurnList(RowList[Episode]):
    """Episodes with a cursor and a selection."""

    selected: frozenset[str] = frozenset()
    """Ids of those that are selected."""
    dated = False
    """Write the day instead of the time, and who it was: rows of several sessions."""

    def key_of(self, row: Episode) -> str:
        """Return its id."""
        return row.id

    def draw(self, row: Episode, width: int) -> Content:
        """Selection, time, outcome, what it was about, signs, tags, weight: what it was about gives way last."""
        mark, style, _ = OUTCOMES[row.outcome]
        when = local_day(row.time)[5:] if self.dated else clock(row.time)
        kind = "" if row.type == "task" else f"{TYPES[row.type][0]} "
        who = f"{one_line(row.agent) or 'unknown'}: " if self.dated and width >= _ROOMY else ""
        facts = self._facts(row, width)
        room = width - 11 - cell_len(kind) - cell_len(facts.plain)
        gone = row.state != "shown"
        about = elide_end(f"{who}{headline(row)}", max(8, room))
        gap = " " * max(1, room - cell_len(about) + 1)
        return Content.assemble(
            ("▪" if row.id in self.selected else " ", "$accent"), (when, "$muted" if gone else "$soft"), " ", (mark, style),
            " ", (kind, "$secondary"), (about, "$muted" if gone else "$foreground"), gap, facts,
        )  # fmt: skip

    def _facts(self, row: Episode, width: int) -> Content:
        tags = " ".join(f"#{one_line(tag)}" for tag in row.tags) if width >= _ROOMY else ""
        pieces = [signs(row)] if signs(row).plain else []
        if tags:
            pieces.append(Content.styled(elide_end(tags, width // 4), "$secondary"))
        if width >= _ROOMY and (heavy := weight(row)):
            pieces.append(Content.styled(heavy, "$muted"))
        return Content(" ").join(pieces)
