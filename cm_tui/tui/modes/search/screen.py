"""Search: ask as you type, see why each answer ranked where it did, and turn the knobs."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widgets import Input

from cm_tui.tui.modes.search.commands import SEARCH_COMMANDS, focus_query, open_hit
from cm_tui.tui.modes.search.mark_commands import after_answer, read_marks
from cm_tui.tui.modes.search.profile_panel import ProfilePanel
from cm_tui.tui.modes.search.results import ResultList
from cm_tui.tui.modes.search.view import SearchView
from cm_tui.tui.screens.commands import Command, bindings

DEBOUNCE = 0.06
"""Seconds without a key before a query is sent."""


class SearchScreen(SearchView):
    """Ask the code."""

    MODE = "search"
    INTRO = (
        "Results come as you type. The bar of a row is its score, stacked by where it comes from; the thin end is what "
        "penalties took away. The panel Why lists every part, and they add up to the score. Tuning ranks again at "
        "once, from what was retrieved, and can be saved to the project."
    )
    TAB_TO_INPUTS = True
    BINDINGS: ClassVar[list[BindingType]] = bindings(SEARCH_COMMANDS)

    _submitted_query = ""
    """Query submitted with Enter whose response is not on screen yet."""

    def _show(self, keep: bool = False) -> None:
        after_answer(self)
        super()._show(keep)
        self.hit_panel.title_profile(self.session)
        asked = self.session.asked
        if self._submitted_query and (
            self.session.problem or (asked and asked.candidates.query == self._submitted_query)
        ):
            self._submitted_query = ""
            if not self.results.rows and self.results.has_focus:
                # Letters typed next correct the query; an empty list would take them for commands.
                self.query_input.focus()

    def read_profiles(self) -> None:
        """Read the profiles as they are saved, and what is marked."""
        super().read_profiles()
        read_marks(self)

    def mode_commands(self) -> tuple[Command[SearchView], ...]:
        """Everything that search can do."""
        return SEARCH_COMMANDS

    @on(Input.Changed, "#query")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.search(delay=DEBOUNCE)
        self.show_facts()
        self.remember()

    @on(Input.Submitted, "#query")
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.search()
        if query := self.query_input.query_text:
            self._submitted_query = query
            self.results.focus()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the query, also from the list."""
        if not self.query_input.has_focus:
            focus_query(self)
            self.query_input.post_message(event)

    @on(ResultList.Chosen, "#results")
    def _chosen(self, event: ResultList.Chosen) -> None:
        event.stop()
        open_hit(self)

    @on(ResultList.MoreRequested)
    def _more(self, event: ResultList.MoreRequested) -> None:
        event.stop()
        self.session.more()

    @on(ProfilePanel.Changed)
    def _tuned(self, event: ProfilePanel.Changed) -> None:
        event.stop()
        self.session.profile = event.profile
        self.hit_panel.title_profile(self.session)
        self.show_facts()
        self.refresh_keys()
        self.remember()
        if event.setting is None or event.setting.retrieves:
            self.search()
        else:
            self.session.rank()
