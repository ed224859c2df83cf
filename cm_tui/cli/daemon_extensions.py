"""What joins the daemon that `cm serve` starts: agents over HTTP, and the work that follows from hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.extensions import Extensions
from cm_tui.daemon.lazy_app import Lazy
from cm_tui.engine.api.engine import Engine
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from starlette.applications import Starlette


def extensions(dispatcher: Dispatcher) -> Extensions:
    """Return everything that joins the daemon. This is the place to add to.

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
