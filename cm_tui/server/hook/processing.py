"""What the owner makes of a journal: edits and git's moves become one index run, a stop becomes an episode."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.journal import Event, Journal, Position
from cm_tui.errors import CmError, UsageError
from cm_tui.server.hook.debounce import Debounce
from cm_tui.server.hook.episode import Sessions, Turn, episode

QUIET_SECONDS = 1.5
"""How long it must have been quiet before what was edited is indexed: 20 edits are one run."""
LEAVE_SECONDS = 15.0
_SEVERAL = 500
"""More paths than this are not worth naming."""

_log = logging.getLogger(__name__)

Index = Callable[[Path, Sequence[str]], None]
"""Brings a root's index up to date: these paths, or all that changed when there are none. Returns when it is done."""


class Processor:
    """Reads the journals of projects as they grow.

    Args:
        index: what runs an index.
        quiet: seconds of quiet before it is called.
    """

    def __init__(self, index: Index, *, quiet: float = QUIET_SECONDS) -> None:
        self._index = index
        self._quiet = quiet
        self._lock = threading.Lock()
        self._readers: dict[Path, _Reader] = {}
        self._pending: dict[Path, _Pending] = {}
        self._closed = False

    def on_nudge(self, root: Path) -> None:
        """Read what a project's journal holds since last time; soon done, as the work itself comes later.

        Raises:
            CmError: the journal cannot be read.
        """
        with self._lock:
            if self._closed:
                return
            journal = Journal.of(root)
            reader = self._readers.setdefault(journal.folder, _Reader(journal))
        for event, turn in reader.news():
            self._take(reader, event, turn, root)

    def close(self) -> None:
        """Finish what is under way; what is still waiting is found again by the next check of the project."""
        with self._lock:
            self._closed = True
            pending = list(self._pending.values())
        for one in pending:
            one.timer.close()
        for reader in self._readers.values():
            reader.close()

    def _take(self, reader: _Reader, event: Event, turn: Turn | None, nudged: Path) -> None:
        # Clones and worktrees share a journal: an event says which of them it is about.
        root = Path(str(event.data.get("root") or nudged))
        if event.kind == "hook.edit":
            self._due(root, [str(path) for path in event.data.get("paths", ())])
        elif event.kind in {"hook.git", "hook.session-start"}:
            self._due(root, None)
        elif turn is not None and not self._closed:
            reader.stopped(root, event, turn)

    def _due(self, root: Path, files: list[str] | None) -> None:
        with self._lock:
            if self._closed:
                return
            if root not in self._pending:
                self._pending[root] = _Pending(root, self._index, self._quiet)
            self._pending[root].add(files)


class _Pending:
    """What is to be indexed below a root once it is quiet."""

    def __init__(self, root: Path, index: Index, quiet: float) -> None:
        self._root = root
        self._index = index
        self._lock = threading.Lock()
        self._files: dict[str, None] = {}
        self._all = False
        self.timer = Debounce(self._run, quiet)

    def add(self, files: list[str] | None) -> None:
        """Ask for these files, or for everything that changed."""
        with self._lock:
            self._files |= dict.fromkeys(files or ())
            self._all = self._all or files is None or len(self._files) > _SEVERAL
        self.timer.call()

    def _run(self) -> None:
        with self._lock:
            files = [] if self._all else list(self._files)
            self._files, self._all = {}, False
        if not self._root.is_dir():
            return
        try:
            self._index(self._root, files)
        except CmError as error:
            _log.warning("indexing %s after a hook: %s", self._root, error.message)
        except Exception:  # noqa: BLE001 - kept in the log
            # The next edit is to have its run whatever became of this one.
            _log.exception("indexing %s after a hook", self._root)


class _Reader:
    """Where the owner stands in one journal, kept on disk so that nothing is done twice."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._file = paths.state_dir() / "hook" / f"{journal.folder.name}.json"
        self._at: Position | None = None
        self._sessions = Sessions()
        self._recording: list[threading.Thread] = []

    def news(self) -> list[tuple[Event, Turn | None]]:
        """Events since last time, which are then past; a stop comes with the turn that it ended."""
        found: list[tuple[Event, Turn | None]] = []
        with self._lock:
            # What is past is read once more when an owner begins: a session may have begun with the one before.
            past = self._kept() if self._at is None else self._at
            for event in self._journal.read(self._at):
                turn = self._sessions.take(event)
                self._at = event.position
                if past is None or event.position > past:
                    found.append((event, turn))
            if found and self._at is not None:
                self._keep(self._at)
        # The episode of a stop stands behind it: only now is known which of them there are already.
        return [(event, None if self._sessions.is_recorded(event) else turn) for event, turn in found]

    def stopped(self, root: Path, stop: Event, turn: Turn) -> None:
        """Record an episode on a thread of its own: git may take its time."""
        thread = threading.Thread(target=self._record, args=(root, stop, turn), name="cm-episode", daemon=True)
        self._recording = [*(one for one in self._recording if one.is_alive()), thread]
        thread.start()

    def close(self) -> None:
        """Wait for episodes that are being recorded; git is given up before this is."""
        for thread in self._recording:
            thread.join(LEAVE_SECONDS)

    def _record(self, root: Path, stop: Event, turn: Turn) -> None:
        try:
            found = episode(root, turn, stop, now=time.time())
            if found is not None:
                self._journal.append("episode", found, head=stop.head)
        except (CmError, OSError) as error:
            _log.warning("recording a session of %s: %s", root, error)

    def _kept(self) -> Position | None:
        try:
            return Position.parse(json.loads(self._file.read_bytes())["position"])
        except (OSError, ValueError, KeyError, TypeError, UsageError):
            # Never read, or the note is damaged: an index run more does no harm, and no stop is recorded twice.
            return None

    def _keep(self, position: Position) -> None:
        try:
            paths.private_dir(paths.private_dir(paths.state_dir()) / self._file.parent.name)
            draft = self._file.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps({"position": str(position)}), encoding="ascii")
            draft.replace(self._file)
        except OSError as error:
            _log.warning("cannot remember a place in the journal: %s", error)
