"""Episodes: everything that agents and people did here, by session and day, and each of them as a story."""

from __future__ import annotations

from textual import events, on
from textual.widgets import Input

from cm_tui.tui.modes.episodes.commands import EPISODES_COMMANDS
from cm_tui.tui.modes.episodes.session_list import SessionList, TurnList
from cm_tui.tui.modes.episodes.story_panel import StoryPanel
from cm_tui.tui.modes.episodes.view import EpisodesView


class EpisodesScreen(EpisodesView, commands=EPISODES_COMMANDS):
    """What agents and people did."""

    INTRO = (
        "What agents and people did here: sessions by day, the episodes of the session under the cursor, and its story. "
        "Enter goes to the right, from a session to its episodes and on into the story of one; esc leads back. / and f "
        "filter. What you tag, rate, pin or forget is that of the episode under the cursor, of all that you "
        "selected with space, or of a whole session; u undoes it. o and s show the code that it touched, as it is "
        "now and as the agent saw it."
    )
    ZOOMS = ("story-panel", "turn-panel", "session-panel")

    # --- the filter ---

    @on(Input.Changed, "#episode-filter")
    def _typed(self) -> None:
        self.led_to = None

    # --- sessions ---

    @on(SessionList.Highlighted, "#sessions")
    def _came_to_session(self, event: SessionList.Highlighted) -> None:
        self.sessions.look(self._last_known(self.session_list.cursor))
        self.choose_session(event.row)

    def _last_known(self, cursor: int) -> int:
        """Return how far into the sessions the cursor is; rows above it are days too."""
        return sum(1 for row in self.session_list.rows[: cursor + 1] if row.session is not None)

    @on(SessionList.Chosen, "#sessions")
    def _enter_session(self) -> None:
        self.enter_turns()

    # --- episodes ---

    @on(TurnList.Highlighted, "#turns")
    def _came_to_turn(self, event: TurnList.Highlighted) -> None:
        self.turns.look(self.turn_list.cursor)
        if not self.on_sessions:
            self.show_turn(event.row)
        self.refresh_keys()

    @on(TurnList.Chosen, "#turns")
    def _enter_turn(self) -> None:
        self.story.lines.focus()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Show the story of what the focused list is about: a session, or one of its episodes."""
        if event.widget is self.session_list and not self.on_sessions:
            self.remove_class("-in-turns")
            self.show_session()
        elif event.widget is self.turn_list and (row := self.turn_list.current) is not None:
            self.add_class("-in-turns")
            self.show_turn(row)

    # --- the story ---

    @on(StoryPanel.Leads)
    def _follow(self, event: StoryPanel.Leads) -> None:
        kind, _, name = event.goal.partition(":")
        if kind == "session":
            self.go_to_session(name)
            return
        if (place := self.turn_list.place_of(name)) is not None:
            self.enter_turns()
            self.turn_list.cursor = place

    # --- back ---

    def step_back(self) -> bool:
        """Leave the selection, then the episodes of a session."""
        if self.selected:
            self.selected.clear()
            self.show_selection()
        elif not self.on_sessions:
            self.remove_class("-in-turns")
            self.session_list.focus()
            self.show_session()
        else:
            return False
        return True
