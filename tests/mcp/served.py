"""A server over the shop repository, and clients that reach it in every way there is."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from cm_tui.mcp import build, http_app
from cm_tui.mcp.access import Access
from cm_tui.mcp.engine_pool import EnginePool

PATIENCE = 120.0


@dataclass
class Answers:
    """A client's calls, with what they gave."""

    client: Client

    async def ok(self, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
        """Text and structure of a call that must succeed (the client checks the structure against the schema)."""
        result = await self.call(tool, **arguments)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        return result.content[0].text, result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Text of a call that must come back as an error."""
        result = await self.call(tool, **arguments)
        assert result.is_error, result.structured_content
        text = result.content[0].text
        assert "Traceback" not in text
        assert "Error executing" not in text
        return text

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments, read_timeout_seconds=PATIENCE)


@asynccontextmanager
async def answering(
    root: Path,
    way: str = "memory",
    *,
    tools: str = "all",
    mode: str = "auto",
    given: Sequence[Path] = (),
    chosen: bool = False,
    **client: Any,
) -> AsyncIterator[Answers]:
    """A client of a server whose default project is `root`.

    Args:
        root: where it is started.
        way: how it is reached.
        tools: which it has.
        mode: era of the protocol.
        given: what it may answer for besides, as `--root` gives it.
        chosen: `root` is named by `--project`, and the server started elsewhere.
        client: options of the client.
    """
    ways = {"memory": _engine, "stdio": _stdio, "http": _http}
    async with ways[way](root, tools, given, chosen) as target, Client(target, mode=mode, **client) as connected:
        yield Answers(connected)


@asynccontextmanager
async def _engine(root: Path, tools: str, given: Sequence[Path], chosen: bool) -> AsyncIterator[Any]:
    engines = EnginePool(root, Access.of_project(root, given))
    try:
        yield build(engines, tools=tools.split(","), ask_roots=not chosen)
    finally:
        engines.close()


@asynccontextmanager
async def _stdio(root: Path, tools: str, given: Sequence[Path], chosen: bool) -> AsyncIterator[Any]:
    words = ["-m", "cm_tui", "mcp", "--tools", tools, *(word for one in given for word in ("--root", str(one)))]
    words += ["--project", str(root)] if chosen else []
    cwd = "/" if chosen else root
    yield StdioServerParameters(command=sys.executable, args=words, cwd=cwd, env=environment())


def environment() -> dict[str, str]:
    """For a server process: this package, and this test's CM_HOME."""
    here = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": str(here)}


@asynccontextmanager
async def _http(root: Path, tools: str, given: Sequence[Path], chosen: bool) -> AsyncIterator[Any]:
    engines = EnginePool(root, Access.of_project(root, given))
    try:
        async with serving(http_app(engines)) as port:
            yield f"http://127.0.0.1:{port}/mcp/{tools}"
    finally:
        engines.close()


class Listening(uvicorn.Server):
    """A server that can be waited for."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[int]:
    """An ASGI application on a port of its own."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="warning", lifespan="on", ws="none", timeout_graceful_shutdown=5)
        server = Listening(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        ready = asyncio.create_task(server.ready.wait())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            await task


EVERY_CALL: Sequence[tuple[str, dict[str, Any]]] = (
    ("codememory_retrieve", {"query": "tax of a cart", "limit": 3, "explain": True}),
    ("context_assemble", {"question": "how is the total made", "budget": 800}),
    ("codememory_definitions", {"symbol": "Cart.total"}),
    ("codememory_callers", {"symbol": "add_tax", "depth": 3}),
    ("codememory_callees", {"symbol": "receipt"}),
    ("codememory_dependencies", {"path": "shop/checkout.py"}),
    ("codememory_importers", {"target": "shop.money"}),
    ("codememory_assembly_members", {"type_name": "PyObject"}),
    ("codememory_ingest", {}),
    ("codememory_ingest", {"confirmed": True}),
    ("codememory_reingest", {"path": "shop/cart.py"}),
    ("codememory_drift", {}),
    ("codememory_at_sha", {"sha": "HEAD", "label": "File"}),
    ("codememory_callers_at_sha", {"symbol": "add_tax", "sha": "HEAD", "sha_ord": 1}),
    ("memory_search", {"query": "refunds within fourteen days"}),
    ("recall", {"question": "what was decided about refunds", "limit": 3}),
    ("remember", {"content": "Refunds are paid within fourteen days.", "category": "Rule"}),
    ("manage_core_memory", {"action": "search", "query": "refunds"}),
    ("codememory_record", {"prompt": "round the tax", "plan": "half up", "verdict": "done", "outcome": "ok"}),
    ("forget", {"id": "last", "reason": "recorded a moment ago"}),
    ("memory_get", {"path": "shop/cart.py", "from": 6, "lines": 3}),
    ("working_memory", {"action": "put", "session": "s", "key": "plan", "value": "round first"}),
    ("working_memory", {"action": "get", "session": "s"}),
    ("codememory_proposals", {"state": "all"}),
    ("codememory_propose", {"text": "Receipts are numbered by year.", "why": "it was asked for twice"}),
)
