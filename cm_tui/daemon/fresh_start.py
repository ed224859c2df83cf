"""Starting the daemon's program again in the same process: what work on projects left in memory goes.

Its socket stays open meanwhile, so a client that connects then waits a moment, and no other daemon is started.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path

from cm_tui.clock import SYSTEM, Clock
from cm_tui.daemon import daemon_log, runtime_dir
from cm_tui.daemon.daemon_state import DaemonState, resident
from cm_tui.daemon.followers import INTERVAL_S, NARRATOR_QUIET_S
from cm_tui.daemon.long_work import HISTORY
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.errors import CmError
from cm_tui.files import users_umask

GROWN_BYTES = 32 << 20
"""How much more memory than at its start a daemon must have: its imports and the first requests take some."""
REST_S = 450.0
"""How long a daemon rests that has grown by so much; one that has grown by more rests less. After each start the next
request imports the database again, which takes 0.3 s."""
_END_S = 60.0
_NEXT_NEEDED = (
    "cm_tui.engine.platform.store.database", "cm_tui.engine.search.ranking.pipeline",
    "cm_tui.engine.context.packs.from_query", "cm_tui.engine.search.vectors.index",
)  # fmt: skip
_VARIABLE = "CM_FRESH_START"


@dataclass(frozen=True)
class Handover:
    """What a daemon passes on to its next start."""

    lock: int
    """Descriptor that holds the daemon's lock."""
    listener: int
    """Descriptor of the listening socket."""
    at: float
    """When it started again; like `rested_since` in seconds of `time.monotonic`, which goes on."""
    rested_since: float
    started: float
    """When the first one started, in seconds since the epoch."""
    errors: int
    last_error: str
    histories: Sequence[str]
    """Roots of projects whose history is not read to its end."""
    followed: Sequence[str]
    """Roots of projects whose transcripts and pipelines are followed; the one used last is the last."""

    def resume(self, state: DaemonState) -> None:
        """Continue where the daemon before was, apart from histories."""
        state.started = self.started
        state.rested_since = self.rested_since
        daemon_log.errors.count, daemon_log.errors.last = self.errors, self.last_error
        for follower in state.followers:
            follower.resume([Path(root) for root in self.followed])


def received() -> Handover | None:
    """Return what the daemon before passed on in this process; None: there was none."""
    text = os.environ.pop(_VARIABLE, "")
    with suppress(ValueError, TypeError, OSError):
        handover = Handover(**json.loads(text))
        for descriptor in (handover.lock, handover.listener):
            os.set_inheritable(descriptor, False)
        return handover
    return None


def start_again(handover: Handover | None = None) -> None:
    """Replace the program of this process by a new start of it; returns only by an error. Raises OSError."""
    environment = dict(os.environ)
    if handover is not None:
        environment[_VARIABLE] = json.dumps(asdict(handover))
        for descriptor in (handover.lock, handover.listener):
            os.set_inheritable(descriptor, True)
    os.umask(users_umask())
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


class FreshStart:
    """Decides when a daemon starts again: it has grown, and rests, or reads nothing but histories, which can go on later.

    `state`: of the daemon; `handover`: what the one before passed on; `clock`: measures the time since that.
    """

    def __init__(self, state: DaemonState, handover: Handover | None, clock: Clock = SYSTEM) -> None:
        self._state = state
        self._clock = clock
        self._handover = handover
        self._since = handover.at if handover is not None else -math.inf
        self._first: int | None = None

    def is_due(self) -> bool:
        """Return whether the daemon should start again now; never where the system does not report its memory."""
        now = resident()
        if self._first is None:
            self._first = now
        quiet_s = self._state.config.project_idle_seconds
        if any(follower.is_waiting for follower in self._state.followers):
            # The narrator begins a pass one round after this time.
            quiet_s = max(quiet_s, NARRATOR_QUIET_S) + 1.5 * INTERVAL_S
        grown, rested_s = now - self._first, min(self._state.quiet_seconds, self._clock.monotonic() - self._since)
        return (
            runtime_dir.HAS_UNIX
            and grown >= GROWN_BYTES
            and rested_s >= max(quiet_s, REST_S * GROWN_BYTES / grown)
            and self._reads_at_most_histories()
        )

    def _reads_at_most_histories(self) -> bool:
        jobs = self._state.jobs.unfinished()
        used = {project.store for project in self._state.projects.opened() if project.users}
        return all(job.queue == HISTORY for job in jobs) and used <= {job.store for job in jobs}

    def begin(self) -> None:
        """Continue after another daemon: import what the next question needs, and read on the histories.

        A hook would wait for these imports, and give up on a busy machine.
        """
        if self._handover is not None:
            for name in _NEXT_NEEDED:
                import_module(name)
            self._read(self._handover.histories)

    def _read(self, roots: Sequence[str]) -> None:
        for root in roots:
            with suppress(CmError):
                self._state.dispatcher.read_history(ProjectRef(root, force=True))

    def end_histories(self) -> Handover | None:
        """End the reading of histories; return what the next start needs to know, apart from descriptors.

        A step of it takes seconds, in which requests are answered: None if there was one, and reading goes on.
        """
        handover, jobs = self._passed_on(), self._state.jobs.unfinished()
        quiet_s = self._state.quiet_seconds
        for job in jobs:
            self._state.jobs.cancel(job)
        for job in jobs:
            job.join(seconds=_END_S)
        if self._state.quiet_seconds >= quiet_s and all(job.is_over for job in self._state.jobs.unfinished()):
            return handover
        self._read(handover.histories)
        return None

    def _passed_on(self) -> Handover:
        state, errors = self._state, daemon_log.errors
        return Handover(
            -1, -1, self._clock.monotonic(), state.rested_since, state.started, errors.count, errors.last,
            [job.project for job in state.jobs.unfinished() if job.queue == HISTORY],
            list(dict.fromkeys(str(root) for follower in state.followers for root in follower.followed())),
        )  # fmt: skip
