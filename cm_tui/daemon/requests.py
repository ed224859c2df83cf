"""What a request carries, read within limits and checked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from starlette.requests import Request

from cm_tui.daemon import rpc
from cm_tui.errors import UsageError

BODY_BYTES = 8_000_000
"""More than any question needs."""
BODY_S = 30.0
PATH_CHARACTERS = 4096
"""The longest path, and the longest name in one, that any system takes."""
_NAME_CHARACTERS = 255

_WHERE = TypeAdapter(rpc.ProjectRef)
_FLAG = TypeAdapter(bool)
_TEXT = TypeAdapter(str)


async def body_of(request: Request) -> dict[str, Any]:
    """Read a request's record.

    Raises UsageError if it is too long, does not arrive in time, or is no record.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > BODY_BYTES:
                    raise UsageError(f"A request may have {BODY_BYTES:,} bytes at most.")
    except TimeoutError as error:
        raise UsageError("The request did not arrive in time.") from error
    value = rpc.load(bytes(data))
    if not isinstance(value, dict):
        raise UsageError("A request is a JSON object.")
    return value


def where_of(body: dict[str, Any]) -> rpc.ProjectRef:
    """Return the project that a request is about. Raises UsageError if it names none."""
    where: rpc.ProjectRef = rpc.checked(_WHERE, body.get("where"), "where")
    path_of(where.folder, "where: folder")
    return where


def path_of(text: str, what: str) -> Path:
    """Return a path as the system can have it. Raises UsageError if no system has such a path."""
    if "\0" in text:
        raise UsageError(f"{what}: a path holds no zero byte.")
    if len(text) > PATH_CHARACTERS or any(len(part) > _NAME_CHARACTERS for part in text.split("/")):
        raise UsageError(f"{what}: no path is that long.")
    return Path(text)


def flag_of(body: dict[str, Any], name: str, *, default: bool) -> bool:
    """Return a flag of a request."""
    flag: bool = rpc.checked(_FLAG, body.get(name, default), name)
    return flag


def text_of(body: dict[str, Any], name: str) -> str:
    """Return a text of a request."""
    text: str = rpc.checked(_TEXT, body.get(name), name)
    return text
