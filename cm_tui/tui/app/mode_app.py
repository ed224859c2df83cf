"""An application of modes: shows them, leads from one to another, and has words for the user."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar

from textual import events

from cm_tui.errors import CmError
from cm_tui.tui.app.mode_screens import ModeScreens, screens
from cm_tui.tui.app.themed_app import ThemedApp
from cm_tui.tui.app.typed_keys import TypedKeys
from cm_tui.tui.screens.app_services import Severity
from cm_tui.tui.screens.messages import (
    OpenEpisode,
    OpenMemory,
    OpenPath,
    OpenRevision,
    OpenSearch,
    OpenSymbol,
    OpenSymbolHistory,
    ProjectChanged,
    ReadEpisode,
    RevisionChanged,
)
from cm_tui.tui.screens.mode_list import TITLES
from cm_tui.tui.state.activity_log import ActivityLog
from cm_tui.tui.state.revision import ShownRevision


class ModeApp(ThemedApp):
    """Modes, the revision that all of them show, and messages for the user."""

    MODES: ClassVar = screens()
    DEFAULT_MODE = "overview"

    def __init__(self) -> None:
        super().__init__()
        self.titles: Mapping[str, str] = TITLES
        self.modes = ModeScreens(self)
        self.typed_keys = TypedKeys(self)
        self.activity_log = ActivityLog()
        self.revision = ShownRevision(partial(self.modes.broadcast, RevisionChanged))

    def remember(self) -> None:
        """For the application to override: something of what is remembered may have changed."""

    # --- keys ---

    async def on_event(self, event: events.Event) -> None:
        """Handle an event; a key waits until what the one before did is done."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
        elif not self.typed_keys.holds(event):
            await super().on_event(event)
            self.typed_keys.follow()

    # --- modes ---

    def go(self, mode: str) -> None:
        """Show a mode."""
        self.call_later(self.action_go, mode)

    async def action_go(self, mode: str) -> None:
        """Show a mode; what was said about the one before is kept in Health, where it was a warning."""
        if mode != self.current_mode:
            self.clear_notifications()
        await self.switch_mode(mode)
        self.remember()
        self.modes.broadcast(ProjectChanged)

    def go_to_now(self) -> None:
        """Show no past revision any more."""
        self.revision.go(None)

    async def on_open_symbol(self, message: OpenSymbol) -> None:
        """Show a symbol in its mode."""
        from cm_tui.tui.modes.symbols.screen import SymbolsScreen

        await self.action_go("symbols")
        self.modes.screen(SymbolsScreen).open_symbol(message)

    async def on_open_path(self, message: OpenPath) -> None:
        """Show a file in the symbols mode."""
        from cm_tui.tui.modes.symbols.screen import SymbolsScreen

        await self.action_go("symbols")
        self.modes.screen(SymbolsScreen).open_path(message)
        if message.note:
            self.tell(message.note)

    def on_open_revision(self, message: OpenRevision) -> None:
        """Show a past revision."""
        self.revision.go(message.moment, message.note, asked=message.asked)

    async def on_open_symbol_history(self, message: OpenSymbolHistory) -> None:
        """Show a symbol's life in the history mode."""
        from cm_tui.tui.modes.history.screen import HistoryScreen

        await self.action_go("history")
        self.modes.screen(HistoryScreen).open_life(message.key)

    async def on_open_episode(self, message: OpenEpisode) -> None:
        """Show in the history mode what an agent saw."""
        from cm_tui.tui.modes.history.screen import HistoryScreen

        await self.action_go("history")
        self.modes.screen(HistoryScreen).open_episode(message.name)

    async def on_read_episode(self, message: ReadEpisode) -> None:
        """Tell an episode among those of its session."""
        from cm_tui.tui.modes.episodes.screen import EpisodesScreen

        await self.action_go("episodes")
        self.modes.screen(EpisodesScreen).open_turn(message)

    async def on_open_search(self, message: OpenSearch) -> None:
        """Ask a question in the search mode."""
        from cm_tui.tui.modes.search.screen import SearchScreen

        await self.action_go("search")
        self.modes.screen(SearchScreen).ask_for(message.query)

    async def on_open_memory(self, message: OpenMemory) -> None:
        """Show an entry or a note in the memory mode."""
        from cm_tui.tui.modes.memory.screen import MemoryScreen

        await self.action_go("memory")
        self.modes.screen(MemoryScreen).open_item(message)

    # --- words to the user ---

    def tell(
        self,
        text: str,
        *,
        title: str = "",
        severity: Severity = "information",
        timeout: float = 4,
    ) -> None:
        """Show a short message; its text is never read as markup."""
        if severity != "information":
            self.activity_log.add(f"{title} {text}".strip(), severity)
        self.notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    def tell_error(self, error: CmError) -> None:
        """Show an error with its hint."""
        self.tell(error.hint or error.message, title=error.message if error.hint else "", severity="error", timeout=6)
