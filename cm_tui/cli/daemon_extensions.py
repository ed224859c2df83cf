"""What joins the daemon that `cm serve` starts: agents over HTTP, and the work that follows from hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.extensions import Extensions
from cm_tui.daemon.lazy_app import Lazy

if TYPE_CHECKING:
    from starlette.applications import Starlette


def extensions(dispatcher: Dispatcher) -> Extensions:
    """Return everything that joins the daemon. This is the place to add to.

    Args:
        dispatcher: the way to the projects, jobs and events.
    """
    from cm_tui.agent_hooks.http import prompts
    from cm_tui.daemon.ingestion_runner import IngestionRunner
    from cm_tui.daemon.journal_work import JournalWork
    from cm_tui.daemon.narrator_runner import NarratorRunner
    from cm_tui.daemon.note_follower import NoteFollower
    from cm_tui.daemon.transcript_follower import TranscriptFollower
    from cm_tui.daemon.warm_up import WarmUp

    journals = JournalWork()
    return Extensions(
        mounts={"/v1/hook": prompts(dispatcher, journals), "/mcp": Lazy(_mcp)},
        background=(
            journals,
            TranscriptFollower(),
            NoteFollower(),
            NarratorRunner(),
            IngestionRunner(),
            WarmUp(),
        ),
    )


def _mcp() -> Starlette:
    from cm_tui.mcp import http_app
    from cm_tui.mcp.access import Access
    from cm_tui.mcp.engine_pool import EnginePool

    return http_app(EnginePool(None, Access.of_indexed()), path="/")
