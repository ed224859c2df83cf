"""What the daemon does with agents' transcripts: of projects that a person imported sessions into, it follows the next ones."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.errors import CancelledError, CmError
from cm_tui.model import Cancel

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher
    from cm_tui.engine.importers.follow import Follower

INTERVAL_S = 10.0
"""Between two looks at the transcripts."""
MOST = 16
"""Projects whose sessions are followed at once; the one that was used longest ago is let go."""
_LEAVE_S = 5.0
_log = logging.getLogger(__name__)


class TranscriptFollower:
    """Follows the transcripts of open projects, and of projects reported by hooks, while the daemon runs.

    Args:
        interval_s: seconds between two looks.
        clock: measures them.
    """

    def __init__(self, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._interval_s = interval_s
        self._dispatcher: Dispatcher | None = None
        self._lock = threading.Lock()
        self._roots: OrderedDict[Path, None] = OrderedDict()
        self._followers: dict[Path, Follower] = {}
        self._complaints: dict[Path, str] = {}
        self._end = threading.Event()
        self._cancel = Cancel()
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        self._dispatcher = dispatcher
        self._thread = threading.Thread(target=self._follow, name="cm-transcripts", daemon=True)
        self._thread.start()

    def on_nudge(self, root: Path) -> None:
        """Note that agents work in the project at this root."""
        with self._lock:
            self._roots[root] = None
            self._roots.move_to_end(root)
            while len(self._roots) > MOST:
                gone, _ = self._roots.popitem(last=False)
                self._followers.pop(gone, None)

    def close(self) -> None:
        """End; what was not taken yet is taken by the next daemon, or the next import."""
        self._end.set()
        self._cancel.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_S)

    def _follow(self) -> None:
        while not self._clock.wait(self._end, self._interval_s):
            self.look_at_all()

    def look_at_all(self) -> None:
        """Take what is new in the sessions of all projects that are followed."""
        assert self._dispatcher is not None
        for project in self._dispatcher.pool.opened():
            self.on_nudge(project.root)
        with self._lock:
            roots = list(self._roots)
        for root in roots:
            if self._end.is_set():
                return
            self._look(root)

    def _look(self, root: Path) -> None:
        """Take what is due of one project."""
        try:
            if self._take(root):
                assert self._dispatcher is not None
                self._dispatcher.on_recorded(root)
            self._complaints.pop(root, None)
        except CancelledError:
            return
        except (CmError, OSError) as error:
            # Told once: the next look meets the same.
            if self._complaints.get(root) != str(error):
                self._complaints[root] = str(error)
                _log.warning("following the sessions of %s: %s", root, error)
        except Exception:  # noqa: BLE001 - kept in the log
            # Other projects are to be followed whatever became of this one.
            _log.exception("following the sessions of %s", root)

    def _take(self, root: Path) -> bool:
        """Return whether anything was recorded."""
        from cm_tui.engine.importers.follow import Follower, is_wanted

        if not root.is_dir() or not is_wanted(root):
            self._followers.pop(root, None)
            return False
        config = load_config(root)
        if not (config.memory.follow_transcripts and config.agents.record):
            return False
        follower = self._followers.get(root)
        if follower is None:
            follower = self._followers[root] = Follower(root)
        summary = follower.look(self._cancel)
        for note in summary.notes if summary else ():
            _log.info("following the sessions of %s: %s", root, note)
        return summary is not None and summary.episodes > 0
