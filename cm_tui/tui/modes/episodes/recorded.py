"""How much is recorded: a column a day with the totals, then outcomes and agents."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from cm_tui.counts import noun
from cm_tui.model import EpisodeStats
from cm_tui.tui.modes.episodes.story import OUTCOMES
from cm_tui.tui.widgets.bars import sparkline
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import count, one_line, short_count


@dataclass(frozen=True)
class Totals:
    """What there is of the episodes that fit."""

    stats: EpisodeStats
    by_hand: int
    """How many were recorded by hand, or in no session."""


DAYS = 90
"""Days that are asked for; as many are drawn as there is room for."""
_NARROW, _WIDE = 100, 160
_SIGN = len("  +99 more")


def activity_text(stats: EpisodeStats, width: int) -> Content:
    """Return two lines: a column a day with the totals, then outcomes and agents."""
    days = min(len(stats.per_day), 30 if width < _NARROW else 60 if width < _WIDE else DAYS)
    line = sparkline(stats.per_day[len(stats.per_day) - days :])
    totals = [
        f"{short_count(stats.sessions)} {noun(stats.sessions, 'session')}",
        f"{short_count(stats.episodes)} {noun(stats.episodes, 'episode')}",
        f"{short_count(stats.tokens)} {noun(stats.tokens, 'token')}",
        f"{short_count(stats.files)} {noun(stats.files, 'file')}",
    ]
    room = width - days - 4
    while len(" · ".join(totals)) > room and len(totals) > 1:
        totals.pop()
    first = Content.assemble(" ", line, "  ", Content.styled(" · ", "$faint").join(Content(one) for one in totals))
    return Content("\n").join((first, _second(stats, days, width)))


def _second(stats: EpisodeStats, days: int, width: int) -> Content:
    """Return what the columns are, what came of all, and who it was; first what the totals leave out."""
    if stats.note:
        return Content.styled(f" {one_line(stats.note)}", "$warning").truncate(width, ellipsis=True)
    today = stats.per_day[-1] if stats.per_day else 0
    words = f" {count(days, 'day')}, {today:,} today" if stats.per_day else ""
    line = Content.styled(words.ljust(days + 1), "$muted")
    counts = {facet.value: facet.count for facet in stats.outcomes}
    for name, (mark, style, label) in OUTCOMES.items():
        if counts.get(name):
            sign = f"  {mark} " if name else "  "
            piece = Content.assemble((sign, style), f"{short_count(counts[name])} ", (label, "$muted"))
            # The number of agents is shown at every width.
            line = _added(line, piece, width - _SIGN)
    return Content.assemble(line, (_agents(stats, width - cell_len(line.plain) - 1), "$secondary"))


def _agents(stats: EpisodeStats, room: int) -> str:
    """Return as many agents as fit, whole, and how many more there are."""
    names = [f"  {one_line(one.value) or 'unknown'} {short_count(one.count)}" for one in stats.agents]
    for shown in range(len(names), -1, -1):
        left = len(names) - shown
        words = "".join(names[:shown]) + (f"  +{left:,} more" if left else "")
        if cell_len(words) <= room:
            return words
    return ""


def _added(line: Content, piece: Content, width: int) -> Content:
    """Return a line with a piece behind it, where there is room for all of it."""
    return Content.assemble(line, piece) if cell_len(line.plain) + cell_len(piece.plain) < width else line


class ActivityPanel(Words):
    """Redraws the totals at each width."""

    stats: EpisodeStats | None = None

    def show(self, stats: EpisodeStats) -> None:
        """Show other totals."""
        self.stats = stats
        self._draw()

    def say(self, words: str, style: str = "$muted") -> None:
        """Show words instead."""
        self.stats = None
        self.update(Content.styled(f" {words}", style), layout=False)

    def on_resize(self) -> None:
        """The same at the new width."""
        self._draw()

    def _draw(self) -> None:
        if self.stats is not None and self.size.width:
            self.update(activity_text(self.stats, self.size.width), layout=False)
