"""What a client has open (MCP roots): asked for within a time limit, and read one by one, so that an odd one costs no other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname
from weakref import WeakValueDictionary

import anyio.to_thread
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_types import REQUEST_TIMEOUT, InitializeRequestParams, ListRootsResult, Root
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from cm_tui.mcp.safe_text import short
from cm_tui.model.text import one_line

ROOTS_NOTES: ContextVar[tuple[str, ...]] = ContextVar("roots_notes", default=())
"""Which of the client's folders the current call ignores, and why."""

ROOTS_SECONDS = 5.0
"""How long a client may take to list its folders; one that does not is not asked again on its connection."""
_ROOTS_IN_ANSWERS = "2026-07-28"
"""Since this revision of the protocol a server asks back by its answer, and the client calls again."""
_IGNORED = "cm-tui/ignored"
"""Key in the `_meta` of a list of roots: the URIs that were dropped from it."""
_SHOWN, _URI_CHARACTERS = 3, 200

_silent: WeakValueDictionary[int, InitializeRequestParams] = WeakValueDictionary()
"""The clients that did not list their folders in time, by the parameters of their `initialize`: one object a connection."""


def asks_in_answers(ctx: Context[Any, Any]) -> bool:
    """Whether the client is asked by the answer to its call; an older one by a request of its own."""
    return is_version_at_least(ctx.protocol_version or "", _ROOTS_IN_ANSWERS)


async def requested_roots(ctx: Context[Any, Any]) -> ListRootsResult:
    """Ask an older client for its folders; none, with a note, where it fails or does not answer in time."""
    session = ctx.request_context.session
    client, problem = session.client_params, "did not list its folders in time"
    if client is None or _silent.get(id(client)) is not client:
        try:
            # Not by `send_request`: it refuses all roots for one, and its notice of cancellation would come before the
            # answer that the client waits for.
            told = await session._request_outbound.send_raw_request(  # noqa: SLF001
                "roots/list", None, {"timeout": ROOTS_SECONDS, "cancel_on_abandon": False}
            )
            return ListRootsResult.model_validate(without_odd_roots(told), by_name=False)
        except ValidationError:
            problem = "did not list its folders as the protocol has it"
        except MCPError as error:
            if error.code != REQUEST_TIMEOUT:
                problem = f"could not list its folders: {one_line(short(error.error.message)).rstrip('.')}"
            elif client is not None:
                _silent[id(client)] = client
    _add_note(f"The client {problem}; this is answered for what the server was given.")
    return ListRootsResult(roots=[])


def without_odd_roots(result: Any) -> Any:
    """Return a client's answer to `roots/list` with those roots that the protocol allows; `_meta` has the others."""
    if not isinstance(result, Mapping) or "roots" not in result:
        return result
    roots = result["roots"]
    kept, ignored = [], []
    for root in roots if isinstance(roots, list) else [] if roots is None else [roots]:
        uri = root.get("uri") if isinstance(root, Mapping) else root
        try:
            # A name or `_meta` of another type costs nothing either.
            kept.append(Root.model_validate({"uri": uri}).model_dump(mode="json", exclude_none=True))
        except ValidationError:
            ignored.append(short(str(uri), _URI_CHARACTERS))
    return {"roots": kept, "_meta": {_IGNORED: ignored}} if ignored else {"roots": kept}


async def open_folders(roots: ListRootsResult) -> tuple[Path, ...]:
    """Return the folders that a client has open on this machine; invalid roots are skipped with a note."""
    # A folder may be on a drive that is slow to answer.
    folders, ignored = await anyio.to_thread.run_sync(folders_of, roots)
    if ignored:
        more = f" and {len(ignored) - _SHOWN:,} more" if len(ignored) > _SHOWN else ""
        names = ", ".join(one_line(short(uri, _URI_CHARACTERS)) or "(empty)" for uri in ignored[:_SHOWN])
        _add_note(f"Ignored client folders that are not on this machine: {names}{more}.")
    return folders


def folders_of(roots: ListRootsResult) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folders of this machine among a client's, a file counting as its folder, and the URIs of the rest."""
    found, ignored = [], [str(uri) for uri in (roots.meta or {}).get(_IGNORED, ())]
    for uri in (str(root.uri) for root in roots.roots):
        folder = _folder_at(uri)
        if folder is None:
            ignored.append(uri)
        else:
            found.append(folder)
    return tuple(dict.fromkeys(found)), ignored


def _folder_at(uri: str) -> Path | None:
    try:
        parts = urlsplit(uri)
        path = url2pathname(parts.path)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc.lower() not in {"", "localhost"} or "\0" in path:
        return None
    # These two never raise, whatever the path.
    return Path(path) if os.path.isdir(path) else Path(path).parent if os.path.isfile(path) else None  # noqa: PTH112, PTH113


def _add_note(note: str) -> None:
    ROOTS_NOTES.set(tuple(dict.fromkeys((*ROOTS_NOTES.get(), note))))
