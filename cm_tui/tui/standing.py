"""Keeps the past that is shown true: the commit one stands at may be rewritten away meanwhile."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.errors import CmError, NotFoundError
from cm_tui.model import Place
from cm_tui.tui.gateway import Gateway
from cm_tui.tui.past import Past, name_of
from cm_tui.tui.project import ProjectView


class Standing:
    """Looks for the commit again whenever the index may answer otherwise.

    Args:
        gateway: does the work.
        past: where the application stands.
        view: what is known of the project.
        tell: shows words.
    """

    def __init__(self, gateway: Gateway, past: Past, view: ProjectView, tell: Callable[[str], None]) -> None:
        self._gateway = gateway
        self._past = past
        self._view = view
        self._tell = tell
        self._seen = 0

    def check(self) -> None:
        """Ask where the commit is now, if there was news since this was asked last."""
        moment, news = self._past.moment, self._view.index_news
        if news == self._seen or self._view.door != "open":
            return
        self._seen = news
        if moment is None:
            return

        def got(place: Place) -> None:
            if self._past.moment != moment:
                return
            if place.moment.sha != moment.sha:
                self._tell(f"History was rewritten: {name_of(moment)} is no longer on the line.")
            self._past.go(place.moment, place.note, self._past.episode)

        def failed(error: CmError) -> None:
            if self._past.moment != moment:
                return
            if isinstance(error, NotFoundError):
                self._past.go(None)
                self._tell(f"History was rewritten: {name_of(moment)} is gone, and you are back at now.")
            else:
                self._tell(f"{error.message} {error.hint}".strip())

        self._gateway.ask("app.standing", lambda door: door.resolve(moment.sha), got, failed)
