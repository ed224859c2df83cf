"""Where other packages join the daemon: what is mounted beside its own paths, and what works behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from starlette.applications import Starlette
from starlette.types import ASGIApp

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.lazy_app import Lazy
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import UsageError


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


def extensions(dispatcher: Dispatcher) -> Extensions:
    """Everything that joins the daemon. This is the place to add to.

    Args:
        dispatcher: the way to the projects, jobs and events.
    """
    from cm_tui.agent_hooks.http import prompts
    from cm_tui.daemon.journal_work import JournalWork

    journals = JournalWork()
    return Extensions(mounts={"/v1/hook": prompts(dispatcher, journals), "/mcp": Lazy(_mcp)}, background=(journals,))


def _mcp() -> Starlette:
    from cm_tui.mcp import http_app
    from cm_tui.mcp.engine_pool import EnginePool

    engines = EnginePool()

    def engine_for(project: str | None) -> Engine:
        if project is None:
            raise UsageError(
                "Name the project.", hint="The daemon serves all of them: give `project`, an absolute path."
            )
        return engines(project)

    return http_app(engine_for, path="/")
