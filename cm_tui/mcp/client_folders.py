"""What a client has open, asked for where no tool is called: for resources and prompts."""

from __future__ import annotations

from pathlib import Path

from mcp.shared.message import ServerMessageMetadata
from mcp_types import InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp_types.version import is_version_at_least

from cm_tui.mcp.project_resolver import Request, folders_of, tells_roots

_QUESTION = "roots"
_ASKS_IN_ANSWERS = "2026-07-28"
"""Since this revision of the protocol a server asks back by its answer, and the client calls again."""


async def client_folders(ctx: Request | None) -> tuple[Path, ...] | InputRequiredResult:
    """Return the client's folders, none when it cannot tell, or the answer that asks for them."""
    if ctx is None or not tells_roots(ctx):
        return ()
    if is_version_at_least(ctx.protocol_version or "", _ASKS_IN_ANSWERS):
        told = (ctx.input_responses or {}).get(_QUESTION)
        if told is None:
            return InputRequiredResult(input_requests={_QUESTION: ListRootsRequest()})
        roots = ListRootsResult.model_validate(told.model_dump(by_alias=True))
    else:
        about = ServerMessageMetadata(related_request_id=ctx.request_id)
        roots = await ctx.session.send_request(ListRootsRequest(), ListRootsResult, metadata=about)
    return folders_of(roots)
