"""Episodes: everything that agents and people did here, by session and day, and each of them as a story."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from cm_tui.tui.modes.episodes.commands import EPISODES_COMMANDS
from cm_tui.tui.modes.episodes.heads import turn_head
from cm_tui.tui.modes.episodes.recorded import TYPING
from cm_tui.tui.modes.episodes.session_list import SessionList
from cm_tui.tui.modes.episodes.story_panel import StoryList, StoryPanel
from cm_tui.tui.modes.episodes.turn_list import TurnList
from cm_tui.tui.modes.episodes.view import EpisodesView
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.named_code import open_names


class EpisodesScreen(EpisodesView):
    """What agents and people did."""

    MODE = "episodes"
    INTRO = (
        "What agents and people did here: sessions by day, the episodes of the session under the cursor, and its story. "
        "Enter goes to the right, from a session to its episodes and on into the story of one; esc leads back. / and f "
        "leave what fits. What you tag, rate, pin or forget is that of the episode under the cursor, of all that you "
        "selected with space, or of a whole session; u undoes it. o and s show the code that it touched, as it is "
        "now and as the agent saw it."
    )
    ZOOMS = ("story-panel", "turn-panel", "session-panel")
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(EPISODES_COMMANDS),
        Binding("escape", "escape", show=False),
        Binding("down", "into_lists", show=False),
    ]

    def mode_commands(self) -> tuple[Command[EpisodesView], ...]:
        """Everything that the episodes mode can do."""
        return EPISODES_COMMANDS

    # --- the filter ---

    @on(Input.Changed, "#episode-filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.led_to = None
        self.ask_anew(delay=TYPING)

    @on(Input.Submitted, "#episode-filter")
    def _take_first(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_into_lists()

    def action_into_lists(self) -> None:
        """Down from the input goes into the list."""
        if self.focused is self.filter_input:
            (self.session_list if self.on_sessions else self.turn_list).focus()

    # --- sessions ---

    @on(SessionList.Highlighted, "#sessions")
    def _came_to_session(self, event: SessionList.Highlighted) -> None:
        event.stop()
        self.sessions.look(self._last_known(self.session_list.cursor))
        self.choose_session(event.row)

    def _last_known(self, cursor: int) -> int:
        """Return how far into the sessions the cursor is; rows above it are days too."""
        return sum(1 for row in self.session_list.rows[: cursor + 1] if row.session is not None)

    @on(SessionList.Chosen, "#sessions")
    def _enter_session(self, event: SessionList.Chosen) -> None:
        event.stop()
        self.enter_turns()

    # --- episodes ---

    @on(TurnList.Highlighted, "#turns")
    def _came_to_turn(self, event: TurnList.Highlighted) -> None:
        event.stop()
        self.turns.look(self.turn_list.cursor)
        if not self.on_sessions:
            self.tell_turn(event.row)
        self.refresh_keys()

    @on(TurnList.Chosen, "#turns")
    def _enter_turn(self, event: TurnList.Chosen) -> None:
        event.stop()
        self.story.lines.focus()

    @on(events.DescendantFocus)
    def _focus_moved(self, event: events.DescendantFocus) -> None:
        """Tell what the list with the focus is of: a session, or one of its episodes."""
        if event.widget is self.session_list and not self.on_sessions:
            self.remove_class("-in-turns")
            self.tell_session()
        elif event.widget is self.turn_list and (row := self.turn_list.current) is not None:
            self.add_class("-in-turns")
            self.tell_turn(row)
        self.refresh_keys()

    # --- the story ---

    @on(StoryPanel.Shown)
    def _story_shown(self, event: StoryPanel.Shown) -> None:
        event.stop()
        if self.story.episode is not None:
            self.story.head(turn_head(self.story.episode))
        self.refresh_keys()

    @on(StoryPanel.Leads)
    def _follow(self, event: StoryPanel.Leads) -> None:
        event.stop()
        kind, _, name = event.goal.partition(":")
        if kind == "session":
            self.go_to_session(name)
            return
        if (place := self.turn_list.place_of(name)) is not None:
            self.enter_turns()
            self.turn_list.cursor = place

    @on(StoryPanel.Names)
    def _open_code(self, event: StoryPanel.Names) -> None:
        event.stop()
        open_names(self, event.names)

    @on(StoryList.Highlighted)
    def _came_to_line(self, event: StoryList.Highlighted) -> None:
        event.stop()

    # --- back ---

    def action_escape(self) -> None:
        """Leave zoom, then the input, then the story, then the episodes, then the selection, then the filter."""
        if self.has_class("-zoomed"):
            self.unzoom()
        elif self.focused is self.filter_input:
            self.action_into_lists()
        elif self.focused is self.story.lines:
            (self.session_list if self.on_sessions else self.turn_list).focus()
        elif self.selected:
            self.selected.clear()
            self.show_selection()
        elif not self.on_sessions:
            self.remove_class("-in-turns")
            self.session_list.focus()
            self.tell_session()
        elif self.filter_input.value:
            self.filter_input.value = ""
        else:
            self.session_list.focus()
