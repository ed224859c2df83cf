"""The daemon with all that joins it; without the library for command lines, as the first prompt of an agent waits for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from cm_tui.daemon.daemon_state import Extensions
    from cm_tui.daemon.dispatcher import Dispatcher


def in_background() -> int:
    """Run `cm serve --background`; returns the exit code. Raises CmError as `own_stores`."""
    from cm_tui import paths

    paths.settle_environment()
    own_stores(background=True)
    return 0


def own_stores(*, background: bool) -> bool:
    """Own all stores until shutdown.

    `background`: log to a file; exit when idle. Returns False when another daemon is running. Raises CmError as
    `daemon.process.serve`.
    """
    from cm_tui.daemon.process import serve

    return serve(extensions, background=background, starts_again=True)


def extensions(dispatcher: Dispatcher) -> Extensions:
    """Return everything that joins the daemon. This is the place to add to.

    `dispatcher`: the way to the projects, jobs and events.
    """
    from cm_tui.agent_hooks.http import prompts
    from cm_tui.daemon.daemon_state import Extensions
    from cm_tui.daemon.followers import IngestionRunner, NarratorRunner, NoteFollower, TranscriptFollower
    from cm_tui.daemon.journal_work import JournalWork
    from cm_tui.daemon.lazy_app import Lazy
    from cm_tui.daemon.warm_up import WarmUp

    journals = JournalWork()
    return Extensions(
        mounts={"/v1/hook": prompts(dispatcher, journals.on_nudge), "/mcp": Lazy(_mcp)},
        background=(journals, TranscriptFollower(), NoteFollower(), NarratorRunner(), IngestionRunner(), WarmUp()),
    )


def _mcp() -> Starlette:
    from cm_tui.mcp import http_app
    from cm_tui.mcp.access import Access
    from cm_tui.mcp.engine_pool import EnginePool

    return http_app(EnginePool(None, Access.of_indexed()), path="/")
