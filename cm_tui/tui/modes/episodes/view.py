"""What the episodes mode shows: activity, the filter, sessions, their episodes, and the story of the one under the cursor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial

from textual import events, getters, on
from textual.containers import Container
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input

from cm_tui.counts import noun
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Episode, EpisodeFilter, Page, Session
from cm_tui.tui.modes.episodes.query import BY_HAND, EVERY, Term, ValidLines, is_session, of_key
from cm_tui.tui.modes.episodes.session_list import (
    DAYS,
    ROOMY,
    SessionList,
    SessionRow,
    Totals,
    TurnList,
    activity_text,
    by_day,
)
from cm_tui.tui.modes.episodes.stories import session_head, session_story, turn_head
from cm_tui.tui.modes.episodes.story_panel import StoryList, StoryPanel
from cm_tui.tui.screens.list_mode import ListMode
from cm_tui.tui.screens.messages import ReadEpisode
from cm_tui.tui.tasks.ask import Engine, GrowingRows, Repeated, Then
from cm_tui.tui.widgets.split import FittedLine, Panel, Split, Words
from cm_tui.tui.widgets.text import count, number_of, one_line

LOOK_AGAIN = 5.0
"""Seconds after which totals are asked for again: agents work on meanwhile."""
MOST_TURNS = 1_000
"""Most episodes of one session in a story; of a longer session, the newest."""
MOST_NEWEST = 200
"""Most episodes in the list of all sessions."""
NOTHING = (
    "No sessions recorded yet. `cm agent install AGENT` records an agent's sessions from now on; "
    "`cm import` reads its past sessions."
)


class EpisodesView(ListMode):
    """Keeps filter, lists and story in step with each other."""

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
        self._told: Session | None = None
        """The session whose story is shown, as it was then."""
        self._listed: Collection[str] = ()
        """Ids of the episodes that are listed."""

    def compose_body(self) -> Iterable[Widget]:
        """Totals and filter above; sessions and their episodes at the left, the story at the right."""
        yield FittedLine(id="activity")
        yield Input(
            placeholder="/ words, type: tool: outcome: tag: file: since:7d   f lists values",
            id="episode-filter", compact=True,
        )  # fmt: skip
        yield Words(id="filter-problem")
        with Split(id="episodes-body"):
            with Container(id="episodes-lists"):
                yield Panel(SessionList(empty="Reading…", id="sessions"), id="session-panel", title="Sessions")
                yield Panel(TurnList(empty="Choose a session.", id="turns"), id="turn-panel", title="Episodes")
            yield StoryPanel(id="story-panel")

    def on_mount(self) -> None:
        """Restore the state of the last run."""
        self.fill_filter(self.kept("filter", ""))
        session = self.choices.get("session")
        self.session_key = session if isinstance(session, str) else None
        self.session_list.focus()
        self.set_interval(LOOK_AGAIN, self.poll)

    def keep(self) -> None:
        """The filter, and the session."""
        super().keep()
        self.choices.update(session=self.session_key)

    # --- parts ---

    session_list = getters.query_one(SessionList)
    turn_list = getters.query_one(TurnList)
    story = getters.query_one(StoryPanel)

    @property
    def list_shown(self) -> SessionList | TurnList:
        """The list that commands are about."""
        return self.session_list if self.on_sessions else self.turn_list

    @property
    def text_shown(self) -> StoryList:
        """The lines of the story."""
        return self.story.lines

    @property
    def session(self) -> Session | None:
        """The session whose episodes are listed; None: all of them."""
        return next((one for one in self.sessions.rows if one.id == self.session_key), None)

    @property
    def episode(self) -> Episode | None:
        """The current episode: the one in the story panel, or under the list's cursor."""
        return None if self.on_sessions else self.story.episode or self.turn_list.current

    @property
    def on_sessions(self) -> bool:
        """True while commands are about a session, not one of its episodes."""
        return not self.has_class("-in-turns")

    # --- news ---

    def look(self, *, at_once: bool) -> None:
        """Ask whether something was recorded meanwhile."""
        if self._begun and self._totals.may_ask(at_once=at_once):
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
        """Request the same rows again after a change."""
        self._read_totals(self.show_totals)
        self.sessions.again()
        self.turns.again()
        self.story.again()

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

    # --- answers ---

    def show_totals(self, totals: Totals) -> None:
        """Show totals, and the rows that count something of them."""
        self.totals = totals
        self.query_one(FittedLine).show(partial(activity_text, totals.stats))
        self._show_sessions()
        self.refresh_keys()

    def show_failure(self, error: CmError) -> None:
        """Show why nothing could be read."""
        self._say(error.one_line, "$error")
        self.session_list.set_rows((), empty=error.one_line)
        self.sessions.clear()

    def _say(self, words: str, style: str) -> None:
        self.query_one(FittedLine).show(lambda _: Content.styled(f" {words}", style))

    def sessions_changed(self, new: bool) -> None:
        """Put the cursor on the session that it was on; where that is gone, on the newest, or the one in its place."""
        place = self.session_list.cursor
        self._show_sessions()
        if self.on_sessions and self.turns.rows and self.session != self._told:
            # Its episodes came first.
            self.show_session(keep=True)
        key, keys = self.session_key, {one.id for one in self.sessions.rows}
        missing = is_session(key) and key not in keys
        gone = new and missing
        if not new and missing and len(keys) >= max(1, self.sessions.total):
            # None of its episodes is left, though others have some.
            self.session_list.cursor = place
            self.choose_session(self.session_list.current)
            return
        if gone and self.led_to is not None and key == self.led_to.session and not self.where.session:
            # It is further down than what is read: on its own it is found.
            self.goal = self.led_to
            self.filter_input.value = str(Term(str(key), "session"))
        elif key is None or gone:
            self.session_key = next((one.id for one in self.sessions.rows if one.id), "")
            self.read_turns()
            self._show_sessions()

    def _show_sessions(self) -> None:
        totals = self.totals
        if totals is None or (totals.stats.episodes and not self.sessions.rows):
            # The other answer is on its way.
            return
        rows = by_day(self.sessions.rows, totals.stats.episodes, totals.by_hand) if self.sessions.rows else []
        cursor = self.session_list.place_of(self.session_key or "", rows) or 0
        empty = self.no_matches or self._nothing
        with self.session_list.prevent(SessionList.Highlighted):
            self.session_list.set_rows(rows, cursor=cursor, empty=empty)
        total, known = self.sessions.total, len(self.sessions.rows)
        self.label("session-panel", subtitle=number_of(known, total, "session"))

    @property
    def _nothing(self) -> str:
        """Why no session is listed, and what can be done about it."""
        view = self.cm.project
        if view.importing:
            return "Importing past sessions; they appear as they are read."
        if waiting := view.sessions_to_import:
            wait = noun(waiting, "waits", "wait")
            return f"Nothing recorded yet. {count(waiting, 'past session')} {wait} to be imported; m imports them."
        return NOTHING

    def project_changed(self) -> None:
        """Ask once the project is open; past sessions may have been found, or imported."""
        view = self.cm.project
        if view.engine != "open":
            self._say(view.why_not_searchable or "Opening the project…", "$muted")
        elif not self._begun:
            self._begun = True
            self.refresh_rows()
        self.refresh_keys()
        if self.totals is not None and not self.sessions.rows:
            self._show_sessions()

    def turns_changed(self, new: bool) -> None:
        """Show the rows with the same cursor, and the session's story if no episode is open."""
        if not new:
            self._deselect_missing()
        self._listed = {row.id for row in self.turns.rows}
        here = self.turn_list.current
        same = self.turn_list.place_of(here.id, self.turns.rows) if here is not None else None
        # What is listed newest first begins with the newest; a session with what was asked first.
        cursor = 0 if new else same if same is not None else self.turn_list.cursor
        self.turn_list.dated = not is_session(self.session_key)
        with self.turn_list.prevent(TurnList.Highlighted):
            self.turn_list.set_rows(tuple(self.turns.rows), cursor=cursor, empty=self.turns.note or "No episodes.")
        self.show_selection()
        row = self.turn_list.current
        if new and self.goal is not None:
            self._come_to(self.goal)
        elif self.on_sessions or row is None:
            self.show_session(keep=not new)
        else:
            self.show_turn(row)

    def _deselect_missing(self) -> None:
        """Select nothing any more that was listed and is gone: it was forgotten, archived or erased meanwhile."""
        if len(self.turns.rows) >= self.turns.total:
            for name in {*self._listed}.difference(row.id for row in self.turns.rows):
                self.selected.pop(name, None)

    def show_selection(self) -> None:
        """Draw what is selected, and say how much it is."""
        self.turn_list.selected = frozenset(self.selected)
        self.turn_list.redraw()
        whole = Counter(one.session for one in self.selected.values())
        self.session_list.selected = frozenset(
            one.id for one in self.sessions.rows if one.episodes and whole[one.id] >= one.episodes
        )
        self.session_list.redraw()
        known, total = len(self.turns.rows), self.turns.total
        words = [number_of(known, total, "episode")]
        if self.turns.note and self.turns.rows:
            words.append(self.turns.note)
        if self.selected:
            words.insert(0, f"{len(self.selected):,} selected")
        self.label("turn-panel", subtitle=one_line(" · ".join(words)))
        self.refresh_keys()

    # --- the story ---

    def show_session(self, *, keep: bool = False) -> None:
        """Show the story of the session whose episodes are listed."""
        rows = self.turns.rows
        if not rows:
            self.story.label("Story")
            self.story.say(self.turns.note or "No episode to show.")
            return
        session, key = self.session, self.session_key
        self._told = session
        one_session = is_session(key)
        children = [one for one in self.sessions.rows if one_session and one.parent == key]
        self.story.label("Session" if one_session else "By hand" if key == BY_HAND else "The newest episodes")
        listed = tuple(rows[: MOST_TURNS if one_session else MOST_NEWEST])
        self.story.head(session_head(session, listed, key or EVERY))
        self.story.tell(("session", key), partial(session_story, listed, children, whose=not one_session), keep=keep)

    def show_turn(self, row: Episode) -> None:
        """Show the story of an episode."""
        self.story.label("Episode")
        self.story.head(turn_head(row))
        self.story.read(row.id)

    def go_to_session(self, key: str) -> None:
        """Put the cursor on a session, where it is known by now."""
        if (place := self.session_list.place_of(key)) is not None:
            self.remove_class("-in-turns")
            self.session_list.focus()
            self.session_list.cursor = place

    def open_turn(self, name: str, session: str) -> None:
        """Show an episode among those of its session, whatever was filtered before."""
        self.goal = self.led_to = ReadEpisode(name, session)
        self.session_key = session or BY_HAND
        self.fill_filter("")
        if self._begun:
            self.refresh_rows()

    def _come_to(self, goal: ReadEpisode) -> None:
        """Put the cursor on the episode that another mode opened, and show its story, listed or not."""
        place = self.turn_list.place_of(goal.name)
        if place is None and is_session(self.session_key) and not self.turns.rows:
            return
        self.goal = None
        self.add_class("-in-turns")
        if place is not None:
            self.turn_list.cursor = place
        self.turn_list.focus()
        self.story.label("Episode")
        self.story.read(goal.name)

    def enter_turns(self) -> None:
        """Go to the episodes of the session."""
        if self.turns.rows:
            self.add_class("-in-turns")
            self.turn_list.focus()

    def choose_session(self, row: SessionRow | None) -> None:
        """List the episodes of a session."""
        if row is None or row.key is None or row.key == self.session_key:
            return
        self.session_key, self.led_to = row.key, None
        self.read_turns(delay=0.06)
        self.refresh_keys()

    @on(events.Resize)
    def _resized(self) -> None:
        self.session_list.set_lines(2 if self.size.height >= ROOMY else 1)
