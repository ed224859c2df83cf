"""Everything that Health shows of the daemon and of the layers that keep the index fresh, asked on a worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import paths
from cm_tui.errors import CmError
from cm_tui.model import Check
from cm_tui.model.freshness import Freshness
from cm_tui.tui.tasks.ask import as_cm_error

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord
    from cm_tui.engine.api.engine import Engine

LOG_LINES = 12
_LOG_BYTES = 8_000


@dataclass(frozen=True)
class DaemonReport:
    """What the daemon says about itself."""

    pid: int
    version: str
    started: float
    memory_bytes: int
    projects: tuple[str, ...]
    listeners: int
    other_settings: bool
    """It was started with other `CM_*` settings than this terminal has."""
    checks: tuple[Check, ...] = ()
    """What it has to complain of: what it cannot do although the settings ask for it, what went wrong in it."""


@dataclass(frozen=True)
class DaemonFacts:
    """What could be found out; what could not says why in `problems`."""

    used: bool
    """False: this user's engines go straight to the store."""
    daemon: DaemonReport | None = None
    jobs: tuple[JobRecord, ...] = ()
    freshness: Freshness | None = None
    log: tuple[str, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)
    """By what is missing: `daemon`, `freshness`, `log`."""


def gather(engine: Engine | None) -> DaemonFacts:
    """Ask for all of it.

    Args:
        engine: the project; None when it does not open.
    """
    from cm_tui.daemon.daemon_use import uses_daemon

    problems: dict[str, str] = {}
    used = False
    daemon: DaemonReport | None = None
    jobs: tuple[JobRecord, ...] = ()
    try:
        used = uses_daemon()
        if used and (engine is None or engine.uses_daemon):
            daemon, jobs = _daemon()
        elif used:
            problems["daemon"] = "The daemon could not be started: this application has the store for itself."
    except (CmError, OSError) as error:
        problems["daemon"] = str(error)
    freshness = None
    if engine is not None:
        try:
            freshness = engine.freshness()
        except Exception as error:  # noqa: BLE001 - shown where the layers would be
            problems["freshness"] = as_cm_error(error).message
    try:
        log = _last_lines(paths.state_dir() / "daemon.log") if used else ()
    except OSError as error:
        log, problems["log"] = (), f"The log cannot be read: {error.strerror or error}"
    return DaemonFacts(used, daemon, jobs, freshness, log, problems)


def _daemon() -> tuple[DaemonReport | None, tuple[JobRecord, ...]]:
    from cm_tui.daemon import bootstrap, checkup, runtime_dir, subscribe

    said = bootstrap.health()
    if said is None:
        return None, ()
    report = DaemonReport(
        int(said["pid"]), str(said["version"]), float(said["started"]), int(said["memory_bytes"]),
        tuple(str(project["root"]) for project in said["projects"]), int(said["listeners"]),
        said.get("settings") != runtime_dir.settings_digest(), checkup.checks_of(said),
    )  # fmt: skip
    return report, tuple(subscribe.jobs())


def _last_lines(file: Path) -> tuple[str, ...]:
    """Return the last lines of a log; empty when it does not exist."""
    try:
        with file.open("rb") as stream:
            stream.seek(0, 2)
            length = stream.tell()
            stream.seek(max(0, length - _LOG_BYTES))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return ()
    # The first one may have been cut.
    return tuple((lines[1:] if length > _LOG_BYTES else lines)[-LOG_LINES:])
