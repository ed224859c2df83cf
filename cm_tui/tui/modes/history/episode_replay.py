"""Shows what an agent saw: chosen from a list or by name, then in every mode."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.model import Episode
from cm_tui.tui.modes.history.episode_list import EpisodeChooser
from cm_tui.tui.modes.history.view import HistoryView
from cm_tui.tui.screens.erase_dialog import EraseDialog
from cm_tui.tui.screens.question import ask
from cm_tui.tui.screens.resume_agent import resume_agent


def choose_episode(screen: HistoryView) -> None:
    """Choose an episode from a list."""

    def chosen(episode: Episode) -> None:
        open_episode(screen, episode.id)

    def erase(episode: Episode, after: Callable[[], None]) -> None:
        def erased(gone: Episode) -> None:
            _forget_shown(screen, gone)
            after()

        EraseDialog(screen, erased).ask(episode)

    ask(screen, EpisodeChooser(screen.ask, screen.drop_question, chosen, erase))
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


def resume_shown(screen: HistoryView) -> None:
    """Open the agent at the session of the episode that is shown."""
    if screen.loader.episode is not None:
        resume_agent(screen, screen.loader.episode)


def erase_shown(screen: HistoryView) -> None:
    """Erase the episode that is shown; asks first."""
    if screen.loader.episode is not None:
        EraseDialog(screen, lambda gone: _forget_shown(screen, gone)).ask(screen.loader.episode)


def _forget_shown(screen: HistoryView, gone: Episode) -> None:
    """Show an episode that was erased no more."""
    shown = screen.loader.episode
    if shown is not None and shown.id == gone.id:
        screen.loader.episode = None
        screen.panel.forget("episode")
    screen.commit_panel.look_for_episodes()
    screen.refresh_keys()
