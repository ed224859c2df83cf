"""What the episodes mode asks for: totals, sessions and their episodes, kept in step with what is recorded."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events, on
from textual.content import Content
from textual.widgets import Static

from cm_tui.counts import noun
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Page, Session
from cm_tui.tui.modes.episodes.query import BY_HAND, ValidLines, is_session, of_key
from cm_tui.tui.modes.episodes.story import OUTCOMES
from cm_tui.tui.modes.episodes.story_panel import StoryPanel
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.screens.messages import ReadEpisode
from cm_tui.tui.tasks.ask import Engine, GrowingRows, Repeated, Then
from cm_tui.tui.widgets.bars import sparkline
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
    room = width - days - 3
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
    for name, (mark, style, said) in OUTCOMES.items():
        if counts.get(name):
            told = Content.assemble((f"  {mark} ", style), f"{short_count(counts[name])} ", (said, "$muted"))
            # The number of agents is shown at every width.
            line = _added(line, told, width - _SIGN)
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


class ActivityPanel(Static):
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


LOOK_AGAIN = 5.0
"""Seconds after which totals are asked for again: agents work on meanwhile."""
MOST_TURNS = 1_000
"""Most episodes of one session in a story; of a longer session, the newest."""


class RecordedEpisodes(ListMode):
    """Asks for what is recorded, again where something of it changed; how it is shown is for a subclass."""

    FILTER, PROBLEM = "episode-filter", "filter-problem"

    def __init__(self) -> None:
        super().__init__()
        self.where = EpisodeFilter()
        """What the line of the filter asks for."""
        self.totals: Totals | None = None
        self.selected: dict[str, Episode] = {}
        """Episodes that the person selected, by id."""
        self.selecting: set[str] = set()
        """Sessions that are being selected: their episodes are not all read yet."""
        self.session_key: str | None = None
        """The session whose episodes are listed: its id, or what else `scope` names; None before the first answer."""
        self.goal: ReadEpisode | None = None
        """The episode that another mode led to, until it is listed."""
        self.led_to: ReadEpisode | None = None
        """The same, until the person goes elsewhere."""
        self.sessions = GrowingRows[Session](
            "sessions", self.ask, self.drop_question, lambda row: row.id, self.sessions_changed, self.show_failure
        )
        self.turns = GrowingRows[Episode](
            "turns", self.ask, self.drop_question, lambda row: row.id, self.turns_changed, self.show_failure
        )
        self._totals = Repeated[Totals]("stats", self.ask, self.show_failure, LOOK_AGAIN)
        self._begun = False
        self._lines = ValidLines()

    # --- news ---

    def project_changed(self) -> None:
        """Request the lists once the engine is open."""
        view = self.cm.project
        if view.engine != "open":
            self.query_one(ActivityPanel).say(view.why_not_searchable or "Opening the project…")
        elif not self._begun:
            self._begun = True
            self.refresh_rows()
        self.refresh_keys()

    @on(events.ScreenResume)
    def _entered(self) -> None:
        self._poll(due=True)

    def _poll(self, *, due: bool = False) -> None:
        """Ask whether something was recorded meanwhile."""
        if self._begun and self.is_current and (due or self._totals.is_due):
            self._read_totals(self._check_story)

    def _read_totals(self, then: Then[Totals], *, delay: float = 0.0) -> None:
        where = self.where

        def call(engine: Engine) -> Totals:
            stats = engine.episode_stats(where=where, days=DAYS)
            return Totals(stats, engine.episodes(where=of_key(where, BY_HAND), limit=1).total)

        self._totals.read(call, then, delay=delay)

    def _check_story(self, totals: Totals) -> None:
        if totals != self.totals:
            self.show_totals(totals)
            self.sessions.again()
            self.turns.again()

    # --- asking ---

    def refresh_rows(self, *, delay: float = 0.0) -> None:
        """Ask for what the line of the filter leaves; while it cannot be read, for what the last one left that could."""
        before = self.where
        self.where, wrong = self._lines.read(self.filter_input.value)
        self.say_problem(wrong)
        if wrong and self.totals is not None and self.where == before:
            return
        self._read_totals(self.show_totals, delay=delay)
        where = self.where
        self.sessions.read(
            lambda engine, before, limit: engine.sessions(where=where, before=before, limit=limit), delay=delay
        )
        self.read_turns(delay=delay)

    def reload(self) -> None:
        """Ask for the same again: something of it was changed."""
        self._read_totals(self.show_totals)
        self.sessions.again()
        self.turns.again()
        self.query_one(StoryPanel).again()

    def read_turns(self, *, delay: float = 0.0) -> None:
        """Ask for the episodes of the session, or for the newest."""
        where, key = of_key(self.where, self.session_key), self.session_key

        def everything(engine: Engine, before: str | None, limit: int) -> Page[Episode]:
            return engine.episodes(where=where, before=before, limit=limit)

        def of_session(engine: Engine, before: str | None, limit: int) -> Page[Episode]:  # noqa: ARG001 - read at once
            try:
                page = engine.episodes(where=where, limit=MOST_TURNS)
            except NotFoundError:
                # All of it was deleted for good meanwhile.
                return Page((), 0)
            rows = tuple(reversed(page.rows))
            left = page.total - len(rows)
            return Page(rows, len(rows), f"the newest {len(rows):,} of {page.total:,}" if left > 0 else page.note)

        self.turns.read(of_session if is_session(key) else everything, delay=delay)

    # --- for a subclass to show ---

    @abstractmethod
    def show_totals(self, totals: Totals) -> None:
        """There are other totals."""

    @abstractmethod
    def show_failure(self, error: CmError) -> None:
        """Nothing could be read."""

    @abstractmethod
    def sessions_changed(self, new: bool) -> None:
        """There are other sessions; `new`: those of another question."""

    @abstractmethod
    def turns_changed(self, new: bool) -> None:
        """There are other episodes; `new`: those of another question."""
