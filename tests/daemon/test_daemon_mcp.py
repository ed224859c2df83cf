"""Agents reach the daemon over HTTP on a port of this machine, with its token."""

from __future__ import annotations

import http.client
import socket
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cm_tui.daemon import bootstrap, endpoint
from cm_tui.daemon.checkup import examine
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.process import CONNECTIONS
from cm_tui.tui.modes.health.daemon_texts import daemon_text, gather
from tests.cli.conftest import Shop
from tests.daemon.conftest import make_project
from tests.mcp.served import PATIENCE, Answers


async def test_tools_answer_for_every_project_and_only_with_the_token(port: int, tmp_path: Path):
    roots = [make_project(tmp_path / name) for name in ("one", "two")]
    for root in roots:
        engine = open_engine(root)
        for _ in engine.index():
            pass
        engine.close()
    info = endpoint.daemon_info()
    assert info is not None
    url = f"http://127.0.0.1:{port}/mcp/graph"
    async with httpx2.AsyncClient(timeout=PATIENCE) as stranger:
        assert (await stranger.post(url, json={})).status_code == 401
        assert (await stranger.get(f"http://127.0.0.1:{port}/v1/jobs")).status_code == 401
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {info.token}"}, timeout=PATIENCE)
    async with web, Client(streamable_http_client(url, http_client=web), read_timeout_seconds=PATIENCE) as client:
        asked = Answers(client)
        for root in roots:
            text, _ = await asked.ok("codememory_callers", symbol="add_tax", project=str(root))
            assert "Cart.total" in text
        assert "project" in await asked.refused("codememory_callers", symbol="add_tax")


def test_a_port_that_is_taken_is_said_and_engines_are_served(port: int, owned: Path, tmp_path: Path):
    root = make_project(tmp_path / "one")
    with socket.create_server(("127.0.0.1", port)):
        with closing(open_engine(root)) as engine:
            assert list(engine.index())[-1].summary is not None
        report = bootstrap.health()
        assert report is not None
        (complaint,) = report["complaints"]
        assert f"port {port}" in complaint
        assert complaint in (owned / "state/daemon.log").read_text()
        assert complaint in Shop(root, owned).cm("serve", "--status").out
        said = [check for check in examine(root) if check.name == "daemon"]
        assert [(check.state, check.message) for check in said] == [("warning", complaint)]
        facts = gather(None)
        assert facts.daemon is not None
        assert complaint in daemon_text(facts, 200).plain
        # Whoever has the port must not be given the token.
        info = endpoint.daemon_info()
        assert info is not None
        assert info.port == 0


@pytest.mark.deep
async def test_the_path_without_a_slash_answers_and_nothing_redirects(port: int):
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    said = {"Authorization": f"Bearer {info.token}", "Accept": "application/json, text/event-stream"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
    async with httpx2.AsyncClient(headers=said, timeout=PATIENCE) as client:
        for path in ("/mcp", "/mcp/", "/mcp/graph"):
            url = f"http://127.0.0.1:{port}{path}"
            assert (await client.post(url, json=hello)).status_code == 200
            for strange in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                answer = await client.post(url, json=hello, headers=strange)
                assert answer.status_code in (403, 421)
                assert "location" not in answer.headers
        for path in ("/mcp/graph/", "/v1/health/"):
            answer = await client.post(f"http://127.0.0.1:{port}{path}", headers={"Host": "evil.example"})
            assert answer.status_code == 421
            assert "location" not in answer.headers


def test_knocking_at_the_port_locks_nobody_out(port: int, tmp_path: Path):
    root = make_project(tmp_path / "one")
    bootstrap.start_daemon()
    info = endpoint.daemon_info()
    assert info is not None
    head = (
        f"POST /v1/call/status HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {info.token}\r\ncm-protocol: 1\r\n"
    )
    with ExitStack() as stack:
        knocking = []
        for number in range(CONNECTIONS + 50):
            channel = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            # Heads and bodies that never end; without the token, the first are not even answered.
            channel.sendall(b"POST /v1/call/st" if number % 2 else f"{head}Content-Length: 9\r\n\r\n1".encode())
            knocking.append(channel)
        with closing(open_engine(root)) as engine:
            assert list(engine.index())[-1].summary is not None
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as known:
            known.request("GET", "/v1/health", headers={"Authorization": f"Bearer {info.token}"})
            assert known.getresponse().status == 403
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as stranger:
            stranger.request("GET", "/v1/health")
            answer = stranger.getresponse()
            assert (answer.status, answer.headers["connection"]) == (401, "close")
        # All of them are ended, the first as there are too many, the others as their time is over.
        for channel in knocking:
            with suppress(ConnectionResetError):
                while channel.recv(1000):
                    pass
