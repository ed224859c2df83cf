"""Keeps the revision that is shown true: its commit may be rewritten away meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import ResolvedRevision
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.state.revision import ShownRevision, name_of
from cm_tui.tui.tasks.engine_tasks import EngineTasks


class RevisionTracker:
    """Looks for the commit again whenever the index may answer otherwise, or more of the past is known.

    Args:
        tasks: asks.
        revision: what the application shows.
        view: what is known of the project.
        tell: shows words.
    """

    def __init__(
        self, tasks: EngineTasks, revision: ShownRevision, view: ProjectView, tell: Callable[[str], None]
    ) -> None:
        self._tasks = tasks
        self._revision = revision
        self._view = view
        self._tell = tell
        self._seen: tuple[int, int] | None = None

    def check(self) -> None:
        """Ask where the commit is now, if there was news since this was asked last."""
        moment, history = self._revision.moment, self._view.history
        news = self._view.index_news, history.known if history else 0
        if news == self._seen or self._view.engine != "open":
            return
        self._seen = news
        if moment is None:
            return
        asked = self._revision.asked

        def got(place: ResolvedRevision) -> None:
            if self._revision.moment != moment:
                return
            if place.moment.sha != moment.sha or (place.moment.ahead and not moment.ahead):
                self._tell(f"History was rewritten: {name_of(moment)} is no longer on the mainline.")
            episode = self._revision.episode
            seen = replace(episode, moment=place.moment, why=place.note) if episode else None
            self._revision.go(place.moment, place.note, seen, asked=asked)

        def failed(error: CmError) -> None:
            if self._revision.moment != moment:
                return
            if isinstance(error, NotFoundError):
                self._revision.go(None)
                self._tell(f"History was rewritten: {name_of(moment)} is gone, and you are back at now.")
            else:
                self._tell(f"{error.message} {error.hint}".strip())

        self._tasks.ask("app.revision", lambda engine: engine.resolve(asked), got, failed)
