"""Reads notes and entries that the user saves with other programs, while the daemon runs."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.daemon.rpc import ProjectRef
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.daemon.dispatcher import Dispatcher

INTERVAL_S = 0.5
"""Between two looks; where the system tells of changes, a look costs a millisecond."""
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
    """Stamp of the last reading; empty: unknown."""
    since: float
    """When they became so."""
    complaint: str = ""


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
        from cm_tui.engine.notes.overwritten import remove_last_texts

        assert self._dispatcher is not None
        with suppress(CmError):
            remove_last_texts()
        while not self._end.wait(self._interval_s):
            roots = {project.root for project in self._dispatcher.pool.opened()}
            for root in self._seen.keys() - roots:
                del self._seen[root]
                known_scan.forget(root)
            began = time.monotonic()
            for root in roots:
                if self._end.is_set():
                    return
                self._look(root)
            # While thousands of files are written, looking takes one part in five of the time at most.
            self._end.wait(min(_REST * (time.monotonic() - began), self._interval_s))

    def _look(self, root: Path) -> None:
        now = time.monotonic()
        try:
            sign = _sign(root)
            seen = self._seen.setdefault(root, _Seen("", "", now))
            if sign != seen.sign:
                seen.sign, seen.since = sign, now
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


def _sign(root: Path) -> str:
    from cm_tui.engine.entries.entries import Entries
    from cm_tui.engine.notes.known_scan import known_notes, places_of

    return f"{known_notes(places_of(root)).sign} {Entries(root).stamp()}"
