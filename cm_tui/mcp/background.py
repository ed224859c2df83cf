"""Work outside the event loop: on a thread, with progress for the client, and stopped when the client cancels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import anyio
import anyio.to_thread

from cm_tui.engine.api.outgoing import without_secrets
from cm_tui.errors import CmError
from cm_tui.mcp.project_resolver import Request
from cm_tui.model import Cancel, IndexSummary, Progress

T = TypeVar("T")

STAGES = ("scan", "parse", "store", "keywords", "vectors", "graph", "done")
STEP_SECONDS = 0.1
"""A client hears of progress at most this often."""


async def run_in_thread(function: Callable[[], T]) -> T:
    """The value of a function that may take a while."""
    return await anyio.to_thread.run_sync(function)


async def follow(start: Callable[[Cancel], Iterator[Progress]], ctx: Request) -> IndexSummary:
    """Run long work to its end, or until the client cancels the call.

    The work has ended when this returns: what was cancelled leaves nothing running behind. Raises CmError: the work
    failed.
    """
    cancel = Cancel()
    steps: list[Progress] = []

    def work() -> IndexSummary | CmError:
        try:
            for step in start(cancel):
                steps[:] = [step]
                if step.summary is not None:
                    return step.summary
        except CmError as error:
            return error
        return CmError("The index run ended without a summary.", hint="Run codememory_ingest again.")

    async with anyio.create_task_group() as group:
        group.start_soon(_report, steps, cancel, ctx)
        outcome = await anyio.to_thread.run_sync(work)
        group.cancel_scope.cancel()
    if isinstance(outcome, CmError):
        raise outcome
    await ctx.report_progress(1.0, 1.0, "done")
    return outcome


async def _report(steps: list[Progress], cancel: Cancel, ctx: Request) -> None:
    told = 0.0
    try:
        while True:
            await anyio.sleep(STEP_SECONDS)
            share = _share(steps[0]) if steps else 0.0
            if share > told:
                told = share
                await ctx.report_progress(share, 1.0, without_secrets(_sentence(steps[0])))
    finally:
        cancel.set()


def _share(step: Progress) -> float:
    """How far all of the work is: stages count alike."""
    stage = STAGES.index(step.stage) if step.stage in STAGES else 0
    within = step.done / step.total if step.total else 0.0
    return min(0.99, (stage + min(within, 1.0)) / len(STAGES))


def _sentence(step: Progress) -> str:
    counts = f" {step.done:,}/{step.total:,}" if step.total > 1 else ""
    return f"{step.stage}{counts}" + (f": {step.message}" if step.message else "")
