"""Runs the narrator on new episodes while the daemon is idle."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.long_work import IMPORT, NARRATE
from cm_tui.daemon.project_follower import INTERVAL_S, ProjectFollower
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.engine.platform.journal.event import Position

QUIET_S = 60.0
"""How long a project must have had no request, and its journal no event."""
_STEP_S = 0.2
_log = logging.getLogger(__name__)


class NarratorRunner(ProjectFollower):
    """Has the narrator look at what is new in projects.

    `interval_s`: seconds between two rounds; `quiet_s`: seconds without a request; `clock`: measures both.
    """

    def __init__(self, interval_s: float = INTERVAL_S, quiet_s: float = QUIET_S, clock: Clock = SYSTEM) -> None:
        super().__init__("looking at the episodes of", "cm-narrator", interval_s, clock)
        self._quiet_s = quiet_s
        self._seen: dict[Path, tuple[Position, float]] = {}
        """How far each journal went when it was looked at last, and since when."""
        self._done: dict[Path, Position] = {}
        """How far a pass has read it."""

    def forget(self, root: Path) -> None:
        """Drop what is known of a project that is no longer followed."""
        super().forget(root)
        self._seen.pop(root, None)
        self._done.pop(root, None)

    def resume(self, roots: Sequence[Path]) -> None:
        """Do nothing: a pass that nothing new asks for would open the project again."""

    @property
    def is_waiting(self) -> bool:
        """Return whether a journal has events that no pass has read."""
        from cm_tui.engine.platform.journal.journal import START

        return any(end not in (START, self._done.get(root)) for root, (end, _) in list(self._seen.items()))

    def visit(self, root: Path) -> None:
        """Make a pass over a project's new episodes if one is due."""
        at = self._due(root)
        if at is not None and self._run(root):
            self._done[root] = at

    def _due(self, root: Path) -> Position | None:
        """Return how far a journal goes that is to be looked at now; None: nothing is due."""
        from cm_tui.engine.memory.recording.gate import why_not
        from cm_tui.engine.platform.journal.journal import START, Journal

        if not root.is_dir():
            return None
        now, end = self._clock.monotonic(), Journal.of(root).end()
        if end != self._seen.get(root, (None, 0.0))[0]:
            self._seen[root] = end, now
        if end in (START, self._done.get(root)) or not load_config(root).narrator.auto or why_not(root):
            return None
        if not projects.has_store(self._store(root)):
            return None
        is_quiet = now - max(self._used.get(root) or 0.0, self._seen[root][1]) >= self._quiet_s
        return end if is_quiet and not self._is_busy(root) else None

    def _is_busy(self, root: Path) -> bool:
        """Return whether something else is done with a project."""
        store = self._store(root)
        return any(self.dispatcher.jobs.of(store, lane=lane) for lane in ("", IMPORT, NARRATE))

    def _store(self, root: Path) -> Path:
        return self.dispatcher.pool.locate(ProjectRef(str(root), force=True))[1]

    def _run(self, root: Path) -> bool:
        """Make a pass; returns whether it came to its end."""
        job = self.dispatcher.narrate_by_itself(ProjectRef(str(root), force=True))
        while not job.is_over:
            if self._end.is_set():
                job.cancel.set()
            job.join(seconds=_STEP_S)
        if isinstance(job.error, CmError) and job.state == "failed":
            raise job.error
        report = job.steps[-1].narrated if job.steps else None
        if report is not None and (report.proposed or report.approved):
            _log.info("%s: %d new proposals, %d approved", root, report.proposed, len(report.approved))
        return job.state == "done"
