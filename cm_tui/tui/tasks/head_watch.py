"""Notices that another branch or commit was checked out, from git's own file and long before an index run is over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.tui.state.project import ProjectView

if TYPE_CHECKING:
    from cm_tui.model import CheckoutHead

EVERY = 1.0
"""Seconds between looks."""

Work = Callable[[Callable[[], "CheckoutHead"], Callable[["CheckoutHead"], None]], None]


class HeadWatch:
    """Reads HEAD on a worker thread, one look at a time.

    Args:
        view: gets what is checked out.
        root: gives the root of the project's checkout; None until that is known.
        work: runs the first function on a worker thread, the second with its answer on the application's.
        changed: called when something else is checked out.
    """

    def __init__(
        self, view: ProjectView, root: Callable[[], Path | None], work: Work, changed: Callable[[], None]
    ) -> None:
        self._view = view
        self._root = root
        self._work = work
        self._changed = changed
        self._busy = False

    def look(self) -> None:
        """Look once, where there is a git repository."""
        root, status = self._root(), self._view.status
        if self._busy or root is None or status is None or not status.git:
            return
        self._busy = True

        def call() -> CheckoutHead:
            from cm_tui.engine.api.projects import checkout_head

            return checkout_head(root)

        self._work(call, self._got)

    def _got(self, head: CheckoutHead) -> None:
        self._busy = False
        if head != self._view.head:
            self._view.head = head
            self._changed()
