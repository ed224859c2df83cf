"""What the daemon does for pipelines: soon after something happened in a project that has some, it runs them."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.definitions.library import load
from cm_tui.engine.journal.journal import START, Journal
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher
    from cm_tui.engine.journal.event import Position

INTERVAL_S = 3.0
"""Between two looks at whether something happened."""
QUIET_S = 120.0
"""After so long pipelines are run though nothing happened: sessions end by being quiet, too."""
MOST = 16
"""Projects that are followed at once; the one that was used longest ago is let go."""
_LEAVE_S = 5.0
_CLIENT = "ingestion"
_log = logging.getLogger(__name__)


class IngestionRunner:
    """Runs the pipelines of open projects, and of projects reported by hooks, while the daemon runs.

    Args:
        interval_s: seconds between two looks.
        clock: measures them.
    """

    def __init__(self, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.Lock()
        self._seen: OrderedDict[Path, tuple[Position | None, float]] = OrderedDict()
        """Projects, with how far the journal went when their pipelines ran last, and when that was."""
        self._complaints: dict[Path, str] = {}
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        self._dispatcher = dispatcher
        self._thread = threading.Thread(target=self._follow, name="cm-ingestion", daemon=True)
        self._thread.start()

    def on_nudge(self, root: Path) -> None:
        """Note that something happened in the project at this root."""
        with self._lock:
            self._seen.setdefault(root, (None, 0.0))
            self._seen.move_to_end(root)
            while len(self._seen) > MOST:
                self._seen.popitem(last=False)

    def close(self) -> None:
        """Stop; current work is finished, or repeated by the next run."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_S)

    def _follow(self) -> None:
        while not self._clock.wait(self._end, self._interval_s):
            self.look_at_all()

    def look_at_all(self) -> None:
        """Run the pipelines that are due now."""
        assert self._dispatcher is not None
        for project in self._dispatcher.pool.opened():
            self.on_nudge(project.root)
        with self._lock:
            roots = list(self._seen)
        for root in roots:
            if self._end.is_set():
                return
            self._look(root)

    def _look(self, root: Path) -> None:
        try:
            if self._is_due(root):
                self._run(root)
            self._complaints.pop(root, None)
        except (CmError, OSError) as error:
            # Told once: the next look meets the same.
            if self._complaints.get(root) != str(error):
                self._complaints[root] = str(error)
                _log.warning("running the pipelines of %s: %s", root, error)
        except Exception:  # noqa: BLE001 - kept in the log
            # Other projects are to be followed whatever became of this one.
            _log.exception("running the pipelines of %s", root)

    def _is_due(self, root: Path) -> bool:
        """Return whether a project has pipelines, and something happened, or long enough nothing did."""
        if not root.is_dir() or not any(one.value.enabled and not one.is_held for one in load(root).pipelines):
            return False
        end, last = Journal.of(root).end(), self._seen.get(root, (None, 0.0))
        if end == START or (end == last[0] and self._clock.monotonic() - last[1] < QUIET_S):
            return False
        return load_config(root).context.ingest

    def _run(self, root: Path) -> None:
        assert self._dispatcher is not None
        at = Journal.of(root).end()
        done = self._dispatcher.call("ingest_pending", ProjectRef(str(root), force=True), {}, client=_CLIENT)
        with self._lock:
            if root in self._seen:
                # What came meanwhile is looked at next time; what the pipelines wrote themselves is nothing new.
                self._seen[root] = at if not done else None, self._clock.monotonic()
        failed = sum(one["outcome"] == "failed" for one in done) if isinstance(done, list) else 0
        if done:
            _log.info("%s: pipelines ran %d times, %d failed", root, len(done), failed)
