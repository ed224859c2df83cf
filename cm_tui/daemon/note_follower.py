"""What the daemon does with notes and entries that people save with other programs: it reads them, though nobody asks."""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.save_alarm import SaveAlarm
from cm_tui.errors import CmError
from cm_tui.paths import PROJECT_FOLDER

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher

INTERVAL_S = 0.5
"""Between two looks; where the system tells of changes, a look costs a millisecond."""
BUSY_INTERVAL_S = 0.1
"""The same in a project where something was saved a moment ago: two programs may have it open."""
_BUSY_S = 120.0
_REST = 4
"""How many times as long as a look took nothing is looked at."""
DEBOUNCE_S = 1.5
"""How long nothing more must be saved before the notes are read."""
_LEAVE_S = 5.0
_log = logging.getLogger(__name__)


@dataclass
class _Seen:
    """What the notes and entries of a project were like."""

    sign: str
    """When they were looked at last; empty: not yet."""
    read: str
    """When they were read last; empty: nobody knows."""
    since: float
    """When they became so."""
    changed: bool = False
    """They have changed since the project was opened."""
    complaint: str = ""
    looked: float = -math.inf

    def is_busy(self, now: float) -> bool:
        """Return whether something was saved a moment ago."""
        return self.changed and now - self.since < _BUSY_S


class NoteFollower:
    """Reads notes and entries of open projects after they were saved, as long as the daemon lives.

    Args:
        interval_s: seconds between two looks.
        debounce_s: seconds without a change before they are read.
    """

    def __init__(self, interval_s: float = INTERVAL_S, debounce_s: float = DEBOUNCE_S) -> None:
        self._interval_s = interval_s
        self._debounce_s = debounce_s
        self._dispatcher: Dispatcher | None = None
        self._seen: dict[Path, _Seen] = {}
        self._end = threading.Event()
        self._alarm = SaveAlarm(self._end)
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin: the daemon answers from now on."""
        self._dispatcher = dispatcher
        self._thread = threading.Thread(target=self._follow, name="cm-notes", daemon=True)
        self._thread.start()

    def on_nudge(self, root: Path) -> None:
        """Do nothing: a journal tells of no note that another program saved."""

    def close(self) -> None:
        """End; what was not read yet is read with the next question."""
        self._end.set()
        if self._thread is not None:
            self._thread.join(_LEAVE_S)

    def _follow(self) -> None:
        from cm_tui.engine.notes import known_scan

        assert self._dispatcher is not None
        while not self._alarm.wait(self._pause_s()):
            roots = {project.root for project in self._dispatcher.pool.opened()}
            for root in self._seen.keys() - roots:
                del self._seen[root]
                known_scan.forget(root)
            began = time.monotonic()
            for root in roots:
                if self._end.is_set():
                    return
                if self._is_due(root):
                    self._look(root)
            # While thousands of files are written, looking takes one part in five of the time at most.
            self._end.wait(min(_REST * (time.monotonic() - began), self._interval_s))
        self._alarm.close()

    def _pause_s(self) -> float:
        """Return how long to wait, and have a save in a project where something was saved a moment ago end that."""
        now = time.monotonic()
        busy = [root for root, seen in self._seen.items() if seen.is_busy(now)]
        self._alarm.watch([folder for root in busy for folder in _folders(root)])
        return min(self._interval_s, BUSY_INTERVAL_S) if busy else self._interval_s

    def _is_due(self, root: Path) -> bool:
        seen, now = self._seen.get(root), time.monotonic()
        return seen is None or seen.is_busy(now) or now - seen.looked >= self._interval_s * 0.9

    def _look(self, root: Path) -> None:
        now = time.monotonic()
        try:
            sign = _sign(root)
            seen = self._seen.setdefault(root, _Seen("", "", now))
            seen.looked = now
            if sign != seen.sign:
                # At once: an editor that was opened before may be saved at any moment.
                _settle(root)
                seen.changed, seen.sign, seen.since = bool(seen.sign), sign, now
            if seen.sign != seen.read and now - seen.since >= self._debounce_s:
                seen.read = seen.sign
                self._read(root)
            seen.complaint = ""
        except (CmError, OSError) as error:
            self._complain(root, str(error))
        except Exception:  # noqa: BLE001 - kept in the log
            # Other projects are to be followed whatever became of this one.
            _log.exception("following the notes of %s", root)

    def _read(self, root: Path) -> None:
        assert self._dispatcher is not None
        where = ProjectRef(str(root), force=True)
        with self._dispatcher.pool.acquire(where) as project:
            project.engine.read_recorded()
        self._dispatcher.on_recorded(root, where)

    def _complain(self, root: Path, words: str) -> None:
        """Tell once: the next look meets the same."""
        seen = self._seen.get(root)
        if seen is None or seen.complaint != words:
            _log.warning("following the notes of %s: %s", root, words)
        if seen is not None:
            seen.complaint = words


def _folders(root: Path) -> list[Path]:
    """Return the folders that hold notes and entries."""
    from cm_tui.engine.notes.known_scan import places_of

    own = root / PROJECT_FOLDER
    folders = [one.folder for one in places_of(root).folders if not one.leads_away]
    return folders if own.is_symlink() else [own, *folders]


def _sign(root: Path) -> str:
    from cm_tui.engine.entries.entries import Entries
    from cm_tui.engine.notes.known_scan import known_notes, places_of

    return f"{known_notes(places_of(root)).sign} {Entries(root).stamp()}"


def _settle(root: Path) -> None:
    """Have those that were saved just now looked at, for what was saved over."""
    from cm_tui.engine.entries.entries import Entries
    from cm_tui.engine.entries.saved_over import settle_all
    from cm_tui.engine.notes.note_saves import settle_recent

    settle_recent(root)
    settle_all(root, [*Entries(root).files.values()])
