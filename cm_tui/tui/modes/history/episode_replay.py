"""Shows what an agent saw: chosen from a list or by name, then in every mode."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.model import Episode
from cm_tui.tui.modes.history.episode_list import EpisodesScreen
from cm_tui.tui.modes.history.erase_dialog import EraseDialog
from cm_tui.tui.modes.history.view import HistoryView


def choose_episode(screen: HistoryView) -> None:
    """Choose an episode from a list."""

    def chosen(episode: Episode | None) -> None:
        if episode is not None:
            open_episode(screen, episode.id)

    def erase(episode: Episode, after: Callable[[], None]) -> None:
        EraseDialog(screen, after).ask(episode)

    screen.app.push_screen(EpisodesScreen(screen.ask, screen.drop_question, erase), chosen)
    screen.commit_panel.look_for_episodes()


def open_episode(screen: HistoryView, name: str) -> None:
    """Show an episode by its name."""

    def got(episode: Episode) -> None:
        _show(screen, episode)

    screen.ask("episode", lambda engine: engine.episode(name), got)


def _show(screen: HistoryView, episode: Episode) -> None:
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


def erase_shown(screen: HistoryView) -> None:
    """Erase the episode that is shown; asks first."""
    if screen.loader.episode is not None:
        EraseDialog(screen).ask(screen.loader.episode)
