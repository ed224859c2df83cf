"""Removes the index: asks first, and whether the episodes of agents' sessions go with it."""

from __future__ import annotations

from cm_tui.tui.modes.health.view import HealthView
from cm_tui.tui.screens.confirm import ConfirmScreen
from cm_tui.tui.widgets.text import count


class ResetDialog:
    """The questions before the index is removed.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: HealthView) -> None:
        self._screen = screen

    def ask(self) -> None:
        """Count the episodes, then ask; where they cannot be counted, they are not offered."""
        self._screen.ask(
            "reset", lambda engine: engine.episodes(limit=1).total, self._choose, lambda _: self._choose(0)
        )

    def _choose(self, episodes: int) -> None:
        question = f"Remove the index of {self._screen.cm.root}? The files of the project stay as they are."
        if not episodes:
            self._screen.app.push_screen(ConfirmScreen(question, "Remove it"), self._answered)
            return
        recorded = count(episodes, "episode")
        question += f"\n\nAgents' sessions recorded {recorded}: they stay, and the next index has them again."

        other = ("d", "Episodes too", lambda: self._ask_again(recorded))
        self._screen.app.push_screen(ConfirmScreen(question, "Remove it", other), self._answered)

    def _ask_again(self, recorded: str) -> None:
        def answered(yes: bool | None) -> None:
            if yes:
                self._remove(drop_episodes=True)

        question = f"Drop {recorded} for good? An index can be made again, what agents recorded cannot."
        self._screen.app.push_screen(ConfirmScreen(question, "Remove both"), answered)

    def _answered(self, yes: bool | None) -> None:
        if yes:
            self._remove(drop_episodes=False)

    def _remove(self, *, drop_episodes: bool) -> None:
        said = "The index and the episodes were removed" if drop_episodes else "The index was removed"

        def removed(_: None) -> None:
            self._screen.cm.activity_log.add(f"{said}.", "ok")
            self._screen.cm.tell(f"{said}; i makes a new one.")
            self._screen.cm.lifecycle.refresh_status()

        self._screen.ask("reset", lambda engine: engine.reset(drop_episodes=drop_episodes), removed)
