"""What an agent saw: chosen from a list or by name, then shown in every mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.model import Episode

if TYPE_CHECKING:
    from cm_tui.tui.modes.history.screen import HistoryScreen


class EpisodeReplay:
    """Leads the history mode to the moments of episodes.

    Args:
        screen: the mode.
    """

    def __init__(self, screen: HistoryScreen) -> None:
        self._screen = screen

    def choose(self) -> None:
        """Choose from a list."""
        from cm_tui.tui.modes.history.episode_list import EpisodesScreen

        def chosen(episode: Episode | None) -> None:
            if episode is not None:
                self.open(episode.id)

        screen = self._screen
        screen.app.push_screen(EpisodesScreen(screen.ask, screen.drop_question), chosen)
        self.look_for_marks()

    def open(self, name: str) -> None:
        """Show an episode by its name."""
        self._screen.ask("episode", lambda engine: engine.episode(name), self._show)

    def _show(self, episode: Episode) -> None:
        screen = self._screen
        screen.loader.episode = episode
        if episode.moment is None:
            screen.cm.tell(f"It cannot be replayed: {episode.why}.", severity="warning")
        else:
            screen.loader.mark = None
            screen.arrive(episode.moment, episode.why, episode.sha)
            screen.cm.revision.go(episode.moment, episode.why, episode, asked=episode.sha)
        screen.panel.forget("episode")
        screen.activate("episode")
        screen.rows.focus()

    def look_for_marks(self) -> None:
        """Ask at which commits episodes were recorded, and mark them on the line."""

        def got(ordinals: tuple[int, ...]) -> None:
            self._screen.commits.recorded = frozenset(ordinals)
            self._screen.commits.redraw()

        self._screen.ask("episode-marks", lambda engine: engine.episode_moments(), got)
