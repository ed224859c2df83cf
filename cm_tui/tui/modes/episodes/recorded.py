"""What the episodes mode asks for: totals, sessions and their episodes, kept in step with what is recorded."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import events, on

from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Episode, EpisodeFilter, Page, Session
from cm_tui.tui.modes.episodes.activity import ActivityPanel
from cm_tui.tui.modes.episodes.scope import is_session, of_key
from cm_tui.tui.modes.episodes.totals import Totals, TotalsWatch
from cm_tui.tui.modes.episodes.valid_lines import ValidLines
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.screens.messages import ReadEpisode
from cm_tui.tui.tasks.growing_rows import GrowingRows

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

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
        self._totals = TotalsWatch(self.ask, self.show_failure, LOOK_AGAIN)
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
            self.ask_anew()
        self.refresh_keys()

    @on(events.ScreenResume)
    def _entered(self) -> None:
        self._look_again(due=True)

    def _look_again(self, *, due: bool = False) -> None:
        """Ask whether something was recorded meanwhile."""
        if self._begun and self.is_current and (due or self._totals.due):
            self._totals.read(self.where, self._look_told)

    def _look_told(self, totals: Totals) -> None:
        if totals != self.totals:
            self.show_totals(totals)
            self.sessions.again()
            self.turns.again()

    # --- asking ---

    def ask_anew(self, *, delay: float = 0.0) -> None:
        """Ask for what the line of the filter leaves; while it cannot be read, for what the last one left that could."""
        before = self.where
        self.where, wrong = self._lines.read(self.filter_input.value)
        self.say_problem(wrong)
        if wrong and self.totals is not None and self.where == before:
            return
        self._totals.read(self.where, self.show_totals, delay=delay)
        where = self.where
        self.sessions.read(
            lambda engine, before, limit: engine.sessions(where=where, before=before, limit=limit), delay=delay
        )
        self.read_turns(delay=delay)

    def reload(self) -> None:
        """Ask for the same again: something of it was changed."""
        self._totals.read(self.where, self.show_totals)
        self.sessions.again()
        self.turns.again()
        self.tell_again()

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

    @abstractmethod
    def tell_again(self) -> None:
        """Reload the story after a change."""
