"""Base of the daemon's background work that visits projects at intervals."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.errors import CancelledError, CmError
from cm_tui.lru import LRU

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher

INTERVAL_S = 10.0
"""Time between two rounds."""
MOST = 16
"""Projects that are followed at once; the one that was used longest ago is dropped."""
_LEAVE_S = 5.0
_log = logging.getLogger(__name__)


class ProjectFollower:
    """Visits projects that are open, or that a hook named, as long as the daemon lives.

    `work`: what a visit does, for the log; `interval_s`: seconds between two rounds; `clock`: measures them.
    """

    def __init__(self, work: str, name: str, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        self._work = work
        self._clock = clock
        self._interval_s = interval_s
        self._dispatcher: Dispatcher | None = None
        self._used: LRU[Path, float] = LRU(MOST)
        """Projects, with the time of the last request or hook."""
        self._complaints: dict[Path, str] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=name, daemon=True)

    @property
    def dispatcher(self) -> Dispatcher:
        """Return the dispatcher that `start` was given."""
        assert self._dispatcher is not None
        return self._dispatcher

    def start(self, dispatcher: Dispatcher) -> None:
        """Start the rounds."""
        self._dispatcher = dispatcher
        self._thread.start()

    def on_nudge(self, root: Path) -> None:
        """Note that agents work in the project at this root."""
        self._note(root, self._clock.monotonic())

    def close(self) -> None:
        """End; what is unfinished is found again by the next daemon."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_LEAVE_S)

    def look_at_all(self) -> None:
        """Visit each project once."""
        for root in self.roots():
            if self._end.is_set():
                return
            self._look(root)

    @property
    def is_waiting(self) -> bool:
        """Return whether it is about to begin work once a project has been quiet for long enough."""
        return False

    def roots(self) -> list[Path]:
        """Return the projects to visit."""
        for project in self.dispatcher.pool.opened():
            self._note(project.root, project.used)
        return list(self._used)

    def followed(self) -> list[Path]:
        """Return the projects that a daemon goes on to follow when it starts again in its process."""
        return list(self._used)

    def resume(self, roots: Sequence[Path]) -> None:
        """Go on with what the daemon before followed."""
        for root in roots:
            self._note(root, self._clock.monotonic())

    def visit(self, root: Path) -> None:
        """Do what is due in a project.

        Raises CmError if it cannot be done; logged once. OSError: likewise.
        """
        raise NotImplementedError

    def forget(self, root: Path) -> None:
        """Drop what is known of a project that is no longer followed."""
        self._complaints.pop(root, None)

    def _note(self, root: Path, used: float) -> None:
        for dropped, _ in self._used.put(root, max(used, self._used.get(root) or used)):
            self.forget(dropped)

    def _follow(self) -> None:
        while not self._clock.wait(self._end, self._interval_s):
            self.look_at_all()

    def _look(self, root: Path) -> None:
        try:
            self.visit(root)
            self._complaints.pop(root, None)
        except CancelledError:
            return
        except (CmError, OSError) as error:
            # Logged once: the next round meets the same.
            if self._complaints.get(root) != str(error):
                self._complaints[root] = str(error)
                _log.warning("%s %s: %s", self._work, root, error)
        except Exception:  # noqa: BLE001 - kept in the log
            # Other projects are followed whatever happened in this one.
            _log.exception("%s %s", self._work, root)
