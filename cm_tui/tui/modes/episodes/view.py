"""What the episodes mode shows: activity, the filter, sessions, their episodes, and the story of the one under the cursor."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from cm_tui.errors import CmError, UsageError
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Page, Session
from cm_tui.tui.modes.episodes.activity import DAYS, ActivityPanel
from cm_tui.tui.modes.episodes.growing import GrowingRows
from cm_tui.tui.modes.episodes.heads import session_head, turn_head
from cm_tui.tui.modes.episodes.query import filter_of
from cm_tui.tui.modes.episodes.session_list import ROOMY, SessionList, SessionRow, by_day
from cm_tui.tui.modes.episodes.session_story import session_story
from cm_tui.tui.modes.episodes.story_panel import StoryPanel
from cm_tui.tui.modes.episodes.turn_list import TurnList
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.split import Split
from cm_tui.tui.widgets.text import count, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

LOOK_AGAIN = 5.0
"""Seconds after which totals are asked for again: agents work on meanwhile."""
LOOK_SHARE = 20
"""Asking for totals takes one part in so many of the time that passes, at most."""
TYPING = 0.15
"""Seconds without a key after which letters are looked for."""
MOST_TURNS = 1_000
"""Episodes of one session that are told in their order; of a longer one the newest are."""
MOST_NEWEST = 200
"""Episodes of every session that are told one below the other."""
NOTHING = (
    "Nothing was recorded yet. `cm agent install AGENT` wires an agent, whose turns are listed here from then on; "
    "`cm import` reads its past sessions."
)


class EpisodesView(ModeScreen):
    """Keeps filter, lists and story in step with each other and with what is recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.where = EpisodeFilter()
        """What the line of the filter asks for."""
        self.stats: EpisodeStats | None = None
        self.selected: dict[str, Episode] = {}
        """Episodes that the person selected, by id."""
        self.session_key: str | None = None
        """The session whose episodes are listed: its id, empty for all of them; None before the first answer."""
        self.sessions = GrowingRows[Session](
            "sessions", self.ask, self.drop_question, lambda row: row.id, self._sessions_changed, self._failed
        )
        self.turns = GrowingRows[Episode](
            "turns", self.ask, self.drop_question, lambda row: row.id, self._turns_changed, self._failed
        )
        self._begun = False
        self._look_due = 0.0

    def compose_body(self) -> Iterable[Widget]:
        """Totals and filter above; sessions and their episodes at the left, the story at the right."""
        yield ActivityPanel(id="activity", markup=False)
        yield Input(
            placeholder="/ words, type: tool: outcome: tag: file: since:7d   f lists what there is",
            id="episode-filter", compact=True,
        )  # fmt: skip
        yield Static(id="filter-problem", markup=False)
        with Split(id="episodes-body"):
            with Container(id="episodes-lists"):
                with Vertical(id="session-panel", classes="panel") as sessions:
                    sessions.border_title = "Sessions"
                    yield SessionList(empty="Reading…", id="sessions")
                with Vertical(id="turn-panel", classes="panel") as turns:
                    turns.border_title = "Episodes"
                    yield TurnList(empty="Choose a session.", id="turns")
            yield StoryPanel(
                self.ask, self.drop_question, partial(self.cm.tasks.work, topic="episodes.layout"), id="story-panel"
            )

    def on_mount(self) -> None:
        """Take up what the last run left."""
        kept = self.cm.state.of(self.MODE)
        if isinstance(text := kept.get("filter"), str):
            with self.prevent(Input.Changed):
                self.filter_input.value = text
        session = kept.get("session")
        self.session_key = session if isinstance(session, str) else None
        self.session_list.focus()
        self.set_interval(LOOK_AGAIN, self._look_again)
        super().on_mount()

    def keep(self) -> None:
        """The filter, and the session."""
        super().keep()
        self.cm.state.of(self.MODE).update(filter=self.filter_input.value, session=self.session_key)

    # --- parts ---

    @property
    def filter_input(self) -> Input:
        """Where the filter is typed."""
        return self.query_one("#episode-filter", Input)

    @property
    def session_list(self) -> SessionList:
        """The sessions."""
        return self.query_one(SessionList)

    @property
    def turn_list(self) -> TurnList:
        """The episodes of the session."""
        return self.query_one(TurnList)

    @property
    def story(self) -> StoryPanel:
        """The story."""
        return self.query_one(StoryPanel)

    @property
    def session(self) -> Session | None:
        """The session whose episodes are listed; None: all of them."""
        return next((one for one in self.sessions.rows if one.id == self.session_key), None)

    @property
    def episode(self) -> Episode | None:
        """The episode that is meant: the one that is told, else the one under the cursor of its list."""
        return None if self.on_sessions else self.story.episode or self.turn_list.current

    @property
    def on_sessions(self) -> bool:
        """True while a session is meant, not one of its episodes."""
        return not self.has_class("-in-turns")

    # --- news ---

    def project_changed(self) -> None:
        """Ask when there is somebody to ask."""
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
        if self._begun and self.is_current and (due or time.monotonic() > self._look_due):
            self._ask_stats(self._told_again)

    def _told_again(self, stats: EpisodeStats) -> None:
        if stats != self.stats:
            self._told(stats)
            self.sessions.again()
            self.turns.again()

    # --- asking ---

    def ask_anew(self, *, delay: float = 0.0) -> None:
        """Ask for what the line of the filter leaves; a line that cannot be read changes nothing, and is told."""
        try:
            self.where = filter_of(self.filter_input.value)
        except UsageError as error:
            self._problem(f"{error.message} {error.hint}".strip())
            return
        self._problem("")
        self._ask_stats(self._told, delay=delay)
        where = self.where
        self.sessions.read(
            lambda engine, before, limit: engine.sessions(where=where, before=before, limit=limit), delay=delay
        )
        self._read_turns(delay=delay)

    def read_again(self) -> None:
        """Ask for the same again: something of it was changed."""
        self._ask_stats(self._told)
        self.sessions.again()
        self.turns.again()
        self.story.again()

    def _ask_stats(self, then: object, *, delay: float = 0.0) -> None:
        where, begun = self.where, time.monotonic()

        def got(stats: EpisodeStats) -> None:
            took = time.monotonic() - begun
            self._look_due = time.monotonic() + max(0.0, LOOK_SHARE * took - LOOK_AGAIN)
            assert callable(then)
            then(stats)

        self.ask("stats", lambda engine: engine.episode_stats(where=where, days=DAYS), got, self._failed, delay=delay)

    def _read_turns(self, *, delay: float = 0.0) -> None:
        where, key = self.where, self.session_key

        def everything(engine: Engine, before: str | None, limit: int) -> Page[Episode]:
            return engine.episodes(where=where, before=before, limit=limit)

        def of_session(engine: Engine, before: str | None, limit: int) -> Page[Episode]:  # noqa: ARG001 - read at once
            page = engine.episodes(where=replace(where, session=key or ""), limit=MOST_TURNS)
            rows = tuple(reversed(page.rows))
            left = page.total - len(rows)
            return Page(rows, len(rows), f"the newest {len(rows):,} of {page.total:,}" if left > 0 else page.note)

        self.turn_list.dated = not key
        self.turns.read(of_session if key else everything, delay=delay)

    # --- answers ---

    def _told(self, stats: EpisodeStats) -> None:
        self.stats = stats
        self.query_one(ActivityPanel).show(stats)
        self._show_sessions()
        self.refresh_keys()

    def _failed(self, error: CmError) -> None:
        words = f"{error.message} {error.hint}".strip()
        self.query_one(ActivityPanel).say(words, "$error")
        self.session_list.set_rows((), empty=words)
        self.sessions.clear()

    def _problem(self, words: str) -> None:
        problem = self.query_one("#filter-problem", Static)
        problem.update(Content(words))
        problem.display = bool(words)

    def _sessions_changed(self, new: bool) -> None:
        """Put the cursor on the session that it was on; where that is gone, on the newest."""
        self._show_sessions()
        keys = {one.id for one in self.sessions.rows}
        if self.session_key is None or (new and self.session_key and self.session_key not in keys):
            self.session_key = next((one.id for one in self.sessions.rows if one.id), "")
            self._read_turns()
            self._show_sessions()

    def _show_sessions(self) -> None:
        rows = by_day(self.sessions.rows, self.stats.episodes if self.stats else 0)
        cursor = next((place for place, row in enumerate(rows) if row.key == (self.session_key or "")), 0)
        empty = f"No episode fits {one_line(self.filter_input.value)}." if self.filter_input.value else NOTHING
        if not self.sessions.rows:
            rows = []
        with self.session_list.prevent(SessionList.Highlighted):
            self.session_list.set_rows(rows, cursor=cursor, empty=empty)
        total, known = self.sessions.total, len(self.sessions.rows)
        panel = self.query_one("#session-panel")
        panel.border_subtitle = Content(
            f"{known:,} of {count(total, 'session')}" if known < total else count(total, "session")
        )

    def _turns_changed(self, new: bool) -> None:
        """Show the rows with the cursor where it was, and tell the session, where no episode is told."""
        here = self.turn_list.current
        same = next((n for n, row in enumerate(self.turns.rows) if here is not None and row.id == here.id), None)
        # What is listed newest first begins with the newest; a session with what was asked first.
        cursor = 0 if new else same if same is not None else self.turn_list.cursor
        with self.turn_list.prevent(TurnList.Highlighted):
            self.turn_list.set_rows(tuple(self.turns.rows), cursor=cursor, empty=self.turns.note or "There is none.")
        self.show_selection()
        row = self.turn_list.current
        if self.on_sessions or row is None:
            self.tell_session(keep=not new)
        else:
            self.tell_turn(row)

    def show_selection(self) -> None:
        """Draw what is selected, and say how much it is."""
        self.turn_list.selected = frozenset(self.selected)
        self.turn_list.redraw()
        known, total = len(self.turns.rows), self.turns.total
        words = [f"{known:,} of {count(total, 'episode')}" if known < total else count(total, "episode")]
        if self.turns.note and self.turns.rows:
            words.append(self.turns.note)
        if self.selected:
            words.insert(0, f"{len(self.selected):,} selected")
        self.query_one("#turn-panel").border_subtitle = Content(one_line(" · ".join(words)))
        self.refresh_keys()

    # --- what is told ---

    def tell_session(self, *, keep: bool = False) -> None:
        """Tell the session whose episodes are listed."""
        rows = self.turns.rows
        if not rows:
            self.story.title("Story")
            self.story.say(self.turns.note or "There is no episode to tell.")
            return
        session, key = self.session, self.session_key
        children = [one for one in self.sessions.rows if key and one.parent == key]
        self.story.title("Session" if key else "The newest episodes")
        told = tuple(rows[: MOST_TURNS if key else MOST_NEWEST])
        self.story.head(session_head(session, told))
        self.story.tell(("session", key), partial(session_story, told, children, whose=not key), keep=keep)

    def tell_turn(self, row: Episode) -> None:
        """Tell an episode whole."""
        self.story.title("Episode")
        self.story.head(turn_head(row))
        self.story.read(row.id)

    def go_to_session(self, key: str) -> None:
        """Put the cursor on a session, where it is known by now."""
        if (place := self.session_list.place_of(key)) is not None:
            self.remove_class("-in-turns")
            self.session_list.focus()
            self.session_list.cursor = place

    def choose_session(self, row: SessionRow | None) -> None:
        """List the episodes of a session."""
        if row is None or row.key is None or row.key == self.session_key:
            return
        self.session_key = row.key
        self._read_turns(delay=0.06)
        self.refresh_keys()

    @on(events.Resize)
    def _resized(self) -> None:
        self.session_list.set_height(2 if self.size.height >= ROOMY else 1)
