"""The palette: every command of the application and of the mode on screen, found by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from cm_tui.tui.screens.mode_screen import ModeScreen


class CommandPalette(Provider):
    """Every command of the application and of the mode on screen, with its key."""

    def _rows(self) -> list[tuple[str, str, str, Callable[[], None]]]:
        """Label, help, what is said beside it, and what runs each command."""
        screen = self.screen
        if not isinstance(screen, ModeScreen):
            return []
        rows: list[tuple[str, str, str, Callable[[], None]]] = []
        done: set[object] = set()
        for command in screen.all_commands:
            # What a mode and the application both offer is listed once.
            if command.palette and command.run not in done:
                done.add(command.run)
                reason = command.why_not(screen)
                text = f"not now: {reason}" if reason else f"{screen.cm.keys_of(command)}  {command.help}"
                rows.append((command.label, command.help, text, partial(screen.run_command, command)))
        return rows

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for label, _, text, run in self._rows():
            yield DiscoveryHit(label, run, help=text)

    async def search(self, query: str) -> Hits:
        """Those that match what was typed."""
        matcher = self.matcher(query)
        for label, words, text, run in self._rows():
            score = max(matcher.match(label), 0.7 * matcher.match(words))
            if score > 0:
                yield Hit(score, matcher.highlight(label), run, help=text)
