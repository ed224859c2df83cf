"""What answers a question, the best first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from textual.content import Content

from cm_tui.engine.api.authors import Author
from cm_tui.model import Hit
from cm_tui.tui.screens.memory_hit import answering_line, facts
from cm_tui.tui.widgets.bars import group_sums, score_bar
from cm_tui.tui.widgets.rowlist import RowList

_SCORE, _BAR = 8, 12


class HitList(RowList[Hit]):
    """Hits of two lines: what it is, whose and how old, with its score; then the bar of that, and the line that answers."""

    row_height = 2
    authors: Mapping[str, Author | None] = {}
    """Who wrote what is listed, by path, as far as that is known."""

    def key_of(self, row: Hit) -> Hashable:
        """Return its passage."""
        return row.passage

    def draw_line(self, row: Hit, line: int, width: int) -> Content:
        """One of the two lines."""
        if line:
            top = max((group_sums(hit.parts).gained for hit in self.rows), default=1.0)
            bar = score_bar(row, _BAR, top, plain=self.app.no_color)
            return Content.assemble("    ", bar, " ", answering_line(row, width - _BAR - 6).stylize_before("$muted"))
        told = facts(row, self.authors.get(row.path), width - 4 - _SCORE - 1)
        return Content.assemble(
            (f"{row.rank:>3} ", "$secondary"), told, " ", (f"{row.score:7.3f} ", "bold $foreground")
        )
