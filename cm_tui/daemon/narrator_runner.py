"""Runs the narrator on new episodes while the daemon is idle."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.long_work import IMPORT, NARRATE
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher
    from cm_tui.engine.journal.event import Position

INTERVAL_S = 10.0
"""Between two looks at whether anything is due."""
QUIET_S = 60.0
"""Seconds without requests and journal events before a project counts as idle."""
MOST = 16
"""Most followed projects; the least recently used one is dropped."""
_STEP_S = 0.2
_LEAVE_S = 5.0
_log = logging.getLogger(__name__)


class NarratorRunner:
    """Runs the narrator for open projects, and for projects reported by hooks, while the daemon runs.

    Args:
        interval_s: seconds between two looks.
        quiet_s: seconds without a question.
        clock: measures both.
    """

    def __init__(self, interval_s: float = INTERVAL_S, quiet_s: float = QUIET_S, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._quiet_s = quiet_s
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.Lock()
        self._used: OrderedDict[Path, float] = OrderedDict()
        """Projects and the time of their last request or event."""
        self._seen: dict[Path, tuple[Position, float]] = {}
        """How far each journal went when it was looked at last, and since when."""
        self._done: dict[Path, Position] = {}
        """How far a pass has read it."""
        self._complaints: dict[Path, str] = {}
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        self._dispatcher = dispatcher
        self._thread = threading.Thread(target=self._follow, name="cm-narrator", daemon=True)
        self._thread.start()

    def on_nudge(self, root: Path) -> None:
        """Note that agents work in the project at this root."""
        self._note(root, self._clock.monotonic())

    def close(self) -> None:
        """End; a pass that is under way is left where it is, and the next one goes on."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_S)

    def _note(self, root: Path, used: float) -> None:
        with self._lock:
            self._used[root] = max(used, self._used.get(root, used))
            self._used.move_to_end(root)
            while len(self._used) > MOST:
                gone, _ = self._used.popitem(last=False)
                self._seen.pop(gone, None)
                self._done.pop(gone, None)

    def _follow(self) -> None:
        while not self._clock.wait(self._end, self._interval_s):
            self.look_at_all()

    def look_at_all(self) -> None:
        """Make the passes that are due now."""
        assert self._dispatcher is not None
        for project in self._dispatcher.pool.opened():
            self._note(project.root, project.used)
        with self._lock:
            roots = list(self._used)
        for root in roots:
            if self._end.is_set():
                return
            self._look(root)

    def _look(self, root: Path) -> None:
        try:
            at = self._due(root)
            if at is not None and self._run(root):
                self._done[root] = at
            self._complaints.pop(root, None)
        except (CmError, OSError) as error:
            # Told once: the next look meets the same.
            if self._complaints.get(root) != str(error):
                self._complaints[root] = str(error)
                _log.warning("looking at the episodes of %s: %s", root, error)
        except Exception:  # noqa: BLE001 - kept in the log
            # Other projects are to be followed whatever became of this one.
            _log.exception("looking at the episodes of %s", root)

    def _due(self, root: Path) -> Position | None:
        """Return how far a journal goes that is to be looked at now; None: nothing is due."""
        from cm_tui.engine.journal.journal import START, Journal
        from cm_tui.engine.recording.gate import why_not

        if not root.is_dir():
            return None
        now, end = self._clock.monotonic(), Journal.of(root).end()
        if end != self._seen.get(root, (None, 0.0))[0]:
            self._seen[root] = end, now
        if end in (START, self._done.get(root)) or not load_config(root).narrator.auto or why_not(root):
            return None
        if not projects.has_store(self._store(root)):
            return None
        is_quiet = now - max(self._used[root], self._seen[root][1]) >= self._quiet_s
        return end if is_quiet and not self._is_busy(root) else None

    def _is_busy(self, root: Path) -> bool:
        """Return whether something else is done with a project."""
        assert self._dispatcher is not None
        store = self._store(root)
        return any(self._dispatcher.jobs.of(store, lane=lane) for lane in ("", IMPORT, NARRATE))

    def _store(self, root: Path) -> Path:
        assert self._dispatcher is not None
        return self._dispatcher.pool.locate(ProjectRef(str(root), force=True))[1]

    def _run(self, root: Path) -> bool:
        """Make a pass; returns whether it came to its end."""
        assert self._dispatcher is not None
        job = self._dispatcher.narrate_by_itself(ProjectRef(str(root), force=True))
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
