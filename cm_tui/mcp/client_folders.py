"""What a client has open, asked for where no tool is called: for resources and prompts."""

from __future__ import annotations

from pathlib import Path

from mcp_types import InputRequiredResult, ListRootsRequest, ListRootsResult

from cm_tui.mcp.project_resolver import Request, asks_in_answers, open_folders, requested_roots, tells_roots

_QUESTION = "roots"


async def client_folders(ctx: Request | None) -> tuple[Path, ...] | InputRequiredResult:
    """Return the client's folders, none when it cannot tell, or the answer that asks for them."""
    if ctx is None or not tells_roots(ctx):
        return ()
    if not asks_in_answers(ctx):
        return await open_folders(await requested_roots(ctx))
    told = (ctx.input_responses or {}).get(_QUESTION)
    if told is None:
        return InputRequiredResult(input_requests={_QUESTION: ListRootsRequest()})
    return await open_folders(ListRootsResult.model_validate(told.model_dump(by_alias=True)))
