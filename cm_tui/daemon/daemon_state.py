"""What a daemon is made of, and when it has done enough."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from starlette.types import ASGIApp

from cm_tui import __version__, paths
from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import DaemonConfig
from cm_tui.daemon import daemon_log, endpoint, runtime_dir
from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.events import Events
from cm_tui.daemon.followers import ProjectFollower
from cm_tui.daemon.jobs import Jobs
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import plain
from cm_tui.files import remove_old_left_overs

_QUIET_S, _UNTOUCHED_S = 60.0, 86_400.0
"""When left-overs are removed: so long without requests, of files that were not written for so long."""

# --- what joins the daemon: applications that are mounted beside its own paths, and work that is done behind ---


class Background(Protocol):
    """Work that the daemon does by itself: the journal, watchers. Called on threads; must return soon."""

    def start(self, dispatcher: Dispatcher) -> None:
        """The daemon answers from now on."""

    def on_nudge(self, root: Path) -> None:
        """The journal of the project at this root has news."""

    def close(self) -> None:
        """The daemon ends."""


@dataclass(frozen=True)
class Extensions:
    """What joins the daemon.

    Mounted applications get requests below their path; their lifespan is run with the daemon's.
    """

    mounts: Mapping[str, ASGIApp] = field(default_factory=dict)
    background: tuple[Background, ...] = ()


MakeExtensions = Callable[[Dispatcher], Extensions]
"""Makes them for a daemon, which hands its dispatcher: the way to the projects, jobs and events."""


# --- what a daemon is made of, and when it has done enough ---


class DaemonState:
    """Projects, jobs and events of one daemon, and its way out.

    `config`: how long it stays. `token`: what requests must carry; empty where the socket itself is private. `extend`:
    makes what joins it; nothing when not given. `clock`: measures the idle time.
    """

    def __init__(
        self,
        config: DaemonConfig,
        token: str = "",
        extend: MakeExtensions = lambda _: Extensions(),
        clock: Clock = SYSTEM,
    ) -> None:
        self._clock = clock
        self.config = config
        self.token = token
        self.events = Events()
        self.jobs = Jobs(self.events)
        self.projects = ProjectPool()
        self.dispatcher = Dispatcher(self.projects, self.jobs, self.events, config.wait_seconds)
        self.extensions = extend(self.dispatcher)
        self.started = clock.now()
        self.handing_over = False
        self.starts_again = False
        """Whether its process runs the program again at the end."""
        self.complaints: list[str] = []
        """What it cannot do although the settings ask for it."""
        self.done = threading.Event()
        """Set once nothing is left to do but to close."""
        self._leaving = False
        self._lock = threading.Lock()
        self._inside = 0
        self.rested_since = clock.monotonic()
        """Since when nothing is asked or done, in seconds of the clock."""
        self._asked = self.rested_since
        self._is_tidy = False

    @contextmanager
    def visit(self) -> Iterator[None]:
        """A request is being answered."""
        with self._lock:
            self._inside += 1
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1
                self.rested_since = self._asked = self._clock.monotonic()

    @property
    def quiet_seconds(self) -> float:
        """Return the seconds without requests and listeners, whatever jobs are on."""
        with self._lock:
            return 0.0 if self._inside else self._clock.monotonic() - self._asked

    @property
    def idle_seconds(self) -> float:
        """Return the seconds without requests, listeners and jobs."""
        with self._lock:
            if self._inside or self.jobs.busy:
                self.rested_since = self._clock.monotonic()
            return self._clock.monotonic() - self.rested_since

    def tidy(self) -> None:
        """Remove what killed processes left in the folders of cm: once, after a minute without requests."""
        if self._is_tidy or self.quiet_seconds < _QUIET_S:
            return
        self._is_tidy = True
        for folder in (paths.data_dir(), paths.state_dir(), paths.config_file().parent):
            remove_old_left_overs(folder, self._clock.now() - _UNTOUCHED_S)

    @property
    def followers(self) -> list[ProjectFollower]:
        """Return the background work that visits projects."""
        return [worker for worker in self.extensions.background if isinstance(worker, ProjectFollower)]

    def leave(self, *, handover: bool = False, again: bool = False) -> None:
        """Begin to end: cancel work, wait for its current step, end all streams. Returns at once.

        `handover`: another daemon follows, with which clients go on; `again`: it is this process, unless it is asked to
        end meanwhile.
        """
        with self._lock:
            self.starts_again = again and not self._leaving
            if self._leaving:
                return
            self._leaving = True
            self.handing_over = handover
        threading.Thread(target=self._leave, name="cm-leave", daemon=True).start()

    def _leave(self) -> None:
        self.events.publish("ending", handover=self.handing_over)
        self.jobs.close()
        self.dispatcher.sync_manager.close()
        self.events.close()
        self.done.set()

    def report(self) -> dict[str, Any]:
        """Return the daemon's status record."""
        return {
            "name": "cm",
            "pid": os.getpid(),
            "version": __version__,
            "protocol": endpoint.PROTOCOL,
            "started": self.started,
            "settings": runtime_dir.settings_digest(),
            "idle_seconds": round(self.idle_seconds, 1),
            "memory_bytes": resident(),
            "projects": [
                {"root": str(project.root), "store": str(project.store), "users": project.users}
                for project in self.projects.opened()
            ],
            "complaints": list(self.complaints),
            "errors": {"count": daemon_log.errors.count, "last": daemon_log.errors.last},
            "listeners": self.events.listeners,
            "jobs": plain([job for job in self.jobs.records() if job.ended is None]),
        }


def resident() -> int:
    """Return the bytes of memory that this process has; 0 where the system does not report them."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
