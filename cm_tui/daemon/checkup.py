"""`cm doctor`: through the daemon where one runs, which has the store; what does not open is a finding too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui import paths
from cm_tui.counts import count
from cm_tui.daemon import bootstrap, runtime_dir
from cm_tui.daemon.daemon_use import tell, uses_daemon
from cm_tui.daemon.open_engine import where_of
from cm_tui.engine.api import projects
from cm_tui.errors import CmError
from cm_tui.model import Check

if TYPE_CHECKING:
    from cm_tui.errors import DaemonError


def examine(folder: Path | None = None, *, full: bool = False) -> tuple[Check, ...]:
    """Check the installation and a project.

    `folder`: as for `open_engine`; `full`: compare every vector, every word of the keyword index and every file of HEAD
    too. Raises NotFoundError if there is no such folder.
    """
    try:
        daemon = bootstrap.health() if uses_daemon() else None
    except CmError as error:
        return (*_examine_here(folder, full=full), _failed(error))
    in_the_way = tuple(_failed(error) for error in runtime_dir.obstacles()) if uses_daemon() else ()
    if daemon is None:
        return (*_examine_here(folder, full=full), *in_the_way)
    body = {"where": asdict(where_of(folder)), "full": full}
    return (*tell("/v1/upkeep/examine", body, tuple[Check, ...]), *checks_of(daemon), *in_the_way)


def checks_of(report: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return what the daemon's report about itself has to complain of."""
    found = [Check("daemon", "warning", said) for said in report.get("complaints", ())]
    errors = report.get("errors", {})
    if number := int(errors.get("count", 0)):
        said = f"{count(number, 'error')} since it started; the last: {errors.get('last', '')}"
        mend = f"{paths.state_dir() / 'daemon.log'} has the details; `cm serve --stop` stops it, and the next command starts a new one."
        found.append(Check("daemon", "failed", said, mend, "daemon-errors"))
    return tuple(found)


def _examine_here(folder: Path | None, *, full: bool) -> tuple[Check, ...]:
    from cm_tui.engine.api.engine import Engine

    def check() -> tuple[Check, ...]:
        with Engine.open(folder, force=True) as engine:
            return engine.doctor(full=full)

    return projects.examine(lambda: projects.locate(folder, force=True)[0], check)


def _failed(error: CmError | DaemonError) -> Check:
    return Check("daemon", "failed", error.message, error.hint, error.finding)
