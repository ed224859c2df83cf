"""The last step of every answer: secrets are taken out of it, whatever tool, resource or prompt made it, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR
from pydantic import BaseModel, ValidationError

from cm_tui.engine.api.outgoing import note_on_marks, without_secrets
from cm_tui.mcp.background import run_in_thread

_OWN_WORDS = frozenset(
    {
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    }
)
"""Requests whose answers hold the server's own words and nothing of a project."""
_EXACT = frozenset(
    {
        "uri", "mimeType", "type", "role", "requestState", "path", "site", "target", "root", "sha", "head", "indexed_head",
        "added", "modified", "removed", "renamed",
    }
)  # fmt: skip
"""Fields by which a client finds things again: places, ids, and words of the protocol."""

_LONG = 200


async def filter_secrets(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Answer a request without the secrets that its answer, or its error, would hold.

    Raises MCPError if the request failed; its message holds no secret either.
    """
    if ctx.method in _OWN_WORDS:
        return await call_next(ctx)
    try:
        result = await call_next(ctx)
    except ValidationError:
        # What was asked was malformed; the SDK says so without repeating it.
        raise
    except MCPError as error:
        kept = _Filter().cleaned([error.message, error.data])
        if kept == [error.message, error.data]:
            raise
        raise MCPError(error.code, *kept) from error
    except Exception as error:
        if without_secrets(str(error)) == str(error):
            raise
        raise MCPError(INTERNAL_ERROR, without_secrets(str(error))) from error
    if result is None:
        return None
    wire = result.model_dump(by_alias=True, mode="json", exclude_none=True) if isinstance(result, BaseModel) else result
    return await run_in_thread(lambda: filtered(wire))


def filtered(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer without secrets, with a note that says how many were taken out.

    `result`: as it goes over the wire.
    """
    clean: dict[str, Any] = _Filter().cleaned(result)
    for block in _texts(clean):
        said = "".join(f"\nnote: {note}" for note in note_on_marks(block["text"]) if note not in block["text"])
        block["text"] += said
    structure = clean.get("structuredContent")
    if isinstance(structure, dict) and isinstance(structure.get("notes"), list):
        # Text and structure hold the same rows; what is counted is the text.
        counted = [note for block in _texts(clean) for note in note_on_marks(block["text"])]
        structure["notes"] += [note for note in dict.fromkeys(counted) if note not in structure["notes"]]
    return clean


def _texts(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of text to which a note may be added: never the bare lines of a file."""
    blocks = [*result.get("content", ()), *(message.get("content") for message in result.get("messages", ()))]
    blocks += [content for content in result.get("contents", ()) if content.get("mimeType") == "text/markdown"]
    return [block for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]


class _Filter:
    """Copies of structures without secrets; what an answer holds twice is looked through once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._texts: list[str] = []
        """Longer texts of this answer that were looked through."""

    def cleaned(self, value: Any, field: str = "") -> Any:
        """Return a copy of a structure; keys, numbers and exact fields are as they were."""
        if isinstance(value, str):
            return value if field in _EXACT else self._text(value)
        if isinstance(value, Mapping):
            return {key: self.cleaned(item, key) for key, item in value.items()}
        return [self.cleaned(item, field) for item in value] if isinstance(value, (list, tuple)) else value

    def _text(self, text: str) -> str:
        if text not in self._known:
            # What stands in a text that was looked through gives nothing away that the answer does not hold anyway.
            held = any(text in seen for seen in self._texts)
            clean = self._known[text] = text if held else without_secrets(text)
            if not held and len(text) > _LONG:
                self._texts.append(clean)
        return self._known[text]
