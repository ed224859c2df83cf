"""Long work: progress while it runs, and an end when the client cancels or goes away."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client

from cm_tui.engine.api.engine import Engine
from cm_tui.mcp import build, http_app
from cm_tui.model import Cancel, Progress
from tests.mcp.served import Answers, environment, serving


class Watched:
    """A real engine whose index run waits after its first step until a test lets it go on, or it is cancelled."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.go_on = threading.Event()
        self.cancel: Cancel | None = None
        self.ended = threading.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def index(self, *, cancel: Cancel, **how: Any) -> Iterator[Progress]:
        self.cancel = cancel
        try:
            for number, step in enumerate(self._engine.index(cancel=cancel, **how)):
                yield step
                while number == 1 and not self.go_on.wait(0.01):
                    cancel.check()
        finally:
            self.ended.set()


@pytest.fixture
def watched(fresh: Path) -> Iterator[Watched]:
    with Engine.open(fresh) as engine:
        yield Watched(engine)


async def until(event: threading.Event) -> None:
    assert await anyio.to_thread.run_sync(event.wait, 60)


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_progress_rises_to_the_end(watched: Watched, mode: str):
    told: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))
        watched.go_on.set()

    async with Client(build(lambda *_: watched, tools=["all"]), mode=mode) as client:
        result = await client.call_tool("codememory_ingest", {"confirmed": True}, progress_callback=hear)
    assert not result.is_error
    shares = [progress for progress, _, _ in told]
    assert len(shares) >= 2
    assert shares == sorted(set(shares))
    assert told[-1] == (1.0, 1.0, "done")
    assert all(message for _, _, message in told)


@pytest.mark.few(2)
@pytest.mark.parametrize("way", ["memory auto", "memory legacy", "http auto", "http legacy"])
async def test_a_cancelled_call_stops_the_work(watched: Watched, way: str):
    where, mode = way.split()
    if where == "memory":
        await _cancel(watched, build(lambda *_: watched, tools=["all"]), mode)
    else:
        async with serving(http_app(lambda *_: watched)) as port:
            await _cancel(watched, f"http://127.0.0.1:{port}/mcp/all", mode)


async def _cancel(watched: Watched, target: Any, mode: str) -> None:
    async with Client(target, mode=mode) as client:
        async with anyio.create_task_group() as group:

            async def hear(*_: object) -> None:
                group.cancel_scope.cancel()

            async def call() -> None:
                await client.call_tool("codememory_ingest", {"confirmed": True}, progress_callback=hear)

            group.start_soon(call)
        await until(watched.ended)
        assert watched.cancel is not None
        assert watched.cancel.is_set
        # The server goes on, and so does the index.
        watched.go_on.set()
        _, done = await Answers(client).ok("codememory_ingest", confirmed=True)
        assert done["done"] is True
        _, found = await Answers(client).ok("codememory_definitions", symbol="Cart")
        assert found["total"] == 1


async def test_other_calls_are_answered_while_the_index_runs(watched: Watched):
    async with Client(build(lambda *_: watched, tools=["all"])) as client:
        started = anyio.Event()

        async def hear(*_: object) -> None:
            started.set()

        async with anyio.create_task_group() as group:
            group.start_soon(lambda: client.call_tool("codememory_ingest", {"confirmed": True}, progress_callback=hear))
            with anyio.fail_after(60):
                await started.wait()
                assert "has no index yet" in await Answers(client).refused("codememory_retrieve", query="cart")
                await client.list_tools()
            assert not watched.ended.is_set()
            watched.go_on.set()


@pytest.mark.process
def test_a_client_that_goes_away_leaves_a_sound_store(tmp_path: Path):
    root = tmp_path / "many"
    root.mkdir()
    for number in range(100):
        body = "".join(f"def f{number}_{k}(x):\n    return f{number}_{k - 1}(x)\n\n\n" for k in range(1, 5))
        (root / f"m{number}.py").write_text(body)
    server = subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "mcp"], cwd=root, env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "codememory_ingest", "arguments": {"confirmed": True}, "_meta": {"progressToken": "p"}}},
    ]  # fmt: skip
    with server:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        seen = [json.loads(server.stdout.readline()), json.loads(server.stdout.readline())]
        assert seen[1]["method"] == "notifications/progress"
        _, complaints = server.communicate(timeout=120)
    assert server.returncode == 0, complaints
    assert "Traceback" not in complaints
    with Engine.open(root) as engine:
        for _ in engine.index():
            pass
        assert engine.definitions("f7_3").total == 1
        assert engine.plan().added == ()
