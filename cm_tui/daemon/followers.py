"""The daemon's background work that visits projects at intervals: transcripts, notes, narrator, pipelines."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.daemon.dispatcher import Dispatcher, engine_of
from cm_tui.daemon.long_work import IMPORT, NARRATE
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.engine.api import projects
from cm_tui.engine.context.definitions.definition_files import has_files
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import CancelledError, CmError
from cm_tui.lru import LRU
from cm_tui.model import Cancel

if TYPE_CHECKING:
    from cm_tui.engine.memory.importers.run import Follower
    from cm_tui.engine.platform.journal.event import Position


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
        self._kept: list[dict[Path, Any]] = []
        self._complaints: dict[Path, str] = self._by_project()
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
        for known in self._kept:
            known.pop(root, None)

    def _by_project(self) -> dict[Path, Any]:
        """Return a mapping of projects that are followed, for what is known of each."""
        self._kept.append({})
        return self._kept[-1]

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


# --- transcripts: of projects that the user imported sessions into, later ones are followed ---


class TranscriptFollower(ProjectFollower):
    """Follows the transcripts of projects.

    `interval_s`: seconds between two rounds; `clock`: measures them.
    """

    def __init__(self, interval_s: float = INTERVAL_S, clock: Clock = SYSTEM) -> None:
        super().__init__("following the sessions of", "cm-transcripts", interval_s, clock)
        self._followers: dict[Path, Follower] = self._by_project()
        self._cancel = Cancel()

    def close(self) -> None:
        """End; what was not taken yet is taken by the next daemon, or the next import."""
        self._cancel.set()
        super().close()

    def visit(self, root: Path) -> None:
        """Record the new turns of a project's sessions."""
        if self._take(root):
            self.dispatcher.on_recorded(root)

    def _take(self, root: Path) -> bool:
        """Return whether anything was recorded."""
        from cm_tui.engine.memory.importers.run import Follower, is_wanted

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


# --- notes and entries that the user saves with other programs ---

NOTES_INTERVAL_S = 0.5
"""Between two looks; where the system tells of changes, a look costs a millisecond."""
_REST = 4
"""Pause after a look, as a multiple of its duration."""
DEBOUNCE_S = 1.5
"""Notes are read after this time without further saves."""


@dataclass
class _FollowedState:
    """State of a project's notes and entries."""

    sign: str
    """Found by the last look; empty: not yet."""
    read: str
    """Read last; empty: unknown."""
    since: float
    """Time of the last change."""


class NoteFollower(ProjectFollower):
    """Reads notes and entries of open projects after they were saved.

    `interval_s`: seconds between two looks; `debounce_s`: seconds without a change before they are read.
    """

    def __init__(self, interval_s: float = NOTES_INTERVAL_S, debounce_s: float = DEBOUNCE_S) -> None:
        super().__init__("following the notes of", "cm-notes", interval_s)
        self._debounce_s = debounce_s
        self._seen: dict[Path, _FollowedState] = self._by_project()

    def on_nudge(self, root: Path) -> None:
        """Do nothing: a journal has no event for a note that another program saved."""

    def roots(self) -> list[Path]:
        """Return the open projects."""
        from cm_tui.engine.memory.notes import scan

        roots = {project.root for project in self.dispatcher.pool.opened()}
        for root in self._seen.keys() - roots:
            self.forget(root)
            scan.forget(root)
        return list(roots)

    def look_at_all(self) -> None:
        """Visit each open project once, and rest."""
        began = time.monotonic()
        super().look_at_all()
        # While thousands of files are written, looking takes one part in five of the time at most.
        self._end.wait(min(_REST * (time.monotonic() - began), self._interval_s))

    def visit(self, root: Path) -> None:
        """Read a project's notes and entries if they were saved, and not since."""
        now = time.monotonic()
        sign = _sign(root)
        seen = self._seen.setdefault(root, _FollowedState("", "", now))
        if sign != seen.sign:
            seen.sign, seen.since = sign, now
        if seen.sign != seen.read and now - seen.since >= self._debounce_s:
            seen.read = seen.sign
            self._read(root)

    def _follow(self) -> None:
        from cm_tui.engine.memory.notes.overwritten import remove_last_texts

        with suppress(CmError):
            remove_last_texts()
        super()._follow()

    def _read(self, root: Path) -> None:
        where = ProjectRef(str(root), force=True)
        with self.dispatcher.pool.acquire(where) as project:
            project.engine.read_recorded()
        self.dispatcher.on_recorded(root, where)


def _sign(root: Path) -> str:
    from cm_tui.engine.memory.entries.entries import Entries
    from cm_tui.engine.memory.notes.scan import places_of, scan_notes

    return f"{scan_notes(places_of(root)).sign} {Entries(root).stamp()}"


# --- the narrator, on new episodes while the daemon is idle ---

NARRATOR_QUIET_S = 60.0
"""Required time without a request to the project and without an event in its journal."""
_STEP_S = 0.2


class NarratorRunner(ProjectFollower):
    """Has the narrator look at what is new in projects.

    `interval_s`: seconds between two rounds; `quiet_s`: seconds without a request; `clock`: measures both.
    """

    def __init__(
        self, interval_s: float = INTERVAL_S, quiet_s: float = NARRATOR_QUIET_S, clock: Clock = SYSTEM
    ) -> None:
        super().__init__("looking at the episodes of", "cm-narrator", interval_s, clock)
        self._quiet_s = quiet_s
        self._seen: dict[Path, tuple[Position, float]] = self._by_project()
        """End of each journal at the last look, and the time since it has not moved."""
        self._done: dict[Path, Position] = self._by_project()
        """Position up to which a pass has read each journal."""

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


# --- pipelines, soon after something happened in a project that has some ---

PIPELINES_INTERVAL_S = 3.0
"""Between two looks at whether something happened."""
PIPELINES_QUIET_S = 120.0
"""After so long pipelines are run though nothing happened: sessions end by being quiet, too."""
_CLIENT = "ingestion"


class IngestionRunner(ProjectFollower):
    """Runs pipelines of projects. `interval_s`: seconds between two rounds; `clock`: measures them."""

    def __init__(self, interval_s: float = PIPELINES_INTERVAL_S, clock: Clock = SYSTEM) -> None:
        super().__init__("running the pipelines of", "cm-ingestion", interval_s, clock)
        self._seen: dict[Path, tuple[Position | None, float]] = self._by_project()
        """End of each journal at the last run of its project's pipelines, and the time of that run."""

    def visit(self, root: Path) -> None:
        """Run a project's pipelines if they are due."""
        if self._is_due(root):
            self._run(root)

    def _is_due(self, root: Path) -> bool:
        """Return whether a project has pipelines, and something happened, or long enough nothing did."""
        if not root.is_dir() or not _has_pipelines(root):
            return False
        end, last = Journal.of(root).end(), self._seen.get(root, (None, 0.0))
        if end == START or (end == last[0] and self._clock.monotonic() - last[1] < PIPELINES_QUIET_S):
            return False
        return load_config(root).context.ingest

    def _run(self, root: Path) -> None:
        at = Journal.of(root).end()
        done = engine_of(self.dispatcher, ProjectRef(str(root), force=True), _CLIENT).ingest_pending()
        # What came meanwhile is looked at next time; what the pipelines wrote themselves is nothing new.
        self._seen[root] = at if not done else None, self._clock.monotonic()
        if done:
            failed = sum(one.outcome == "failed" for one in done)
            _log.info("%s: pipelines ran %d times, %d failed", root, len(done), failed)


def _has_pipelines(root: Path) -> bool:
    """Return whether a project has pipelines that may run."""
    if not has_files(root, "ingestion"):
        return False
    # Most projects have none, and a daemon that starts has a prompt to answer first.
    from cm_tui.engine.context.definitions.library import load

    return any(one.value.enabled and not one.is_held for one in load(root).pipelines)
