"""Agents reach the owner over HTTP on a port of this machine, with its token."""

from __future__ import annotations

import socket
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cm_tui import paths
from cm_tui.errors import CmError
from cm_tui.server import runtime
from cm_tui.server.connect import connect
from tests.server.conftest import make_project
from tests.server.mcp.served import PATIENCE, Answers


@pytest.fixture
def port(owned: Path) -> int:
    """A port that the owner is told to listen on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    paths.config_file().parent.mkdir(parents=True, exist_ok=True)
    paths.config_file().write_text(f"[owner]\nport = {number}\n")
    return number


async def test_tools_answer_for_every_project_and_only_with_the_token(port: int, tmp_path: Path):
    roots = [make_project(tmp_path / name) for name in ("one", "two")]
    for root in roots:
        door = connect(root)
        for _ in door.index():
            pass
        door.close()
    info = runtime.owner_info()
    assert info is not None
    url = f"http://127.0.0.1:{port}/mcp/graph"
    async with httpx2.AsyncClient() as stranger:
        assert (await stranger.post(url, json={})).status_code == 401
        assert (await stranger.get(f"http://127.0.0.1:{port}/v1/jobs")).status_code == 401
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {info.token}"})
    async with web, Client(streamable_http_client(url, http_client=web), read_timeout_seconds=PATIENCE) as client:
        asked = Answers(client)
        for root in roots:
            text, _ = await asked.ok("codememory_callers", symbol="add_tax", project=str(root))
            assert "Cart.total" in text
        assert "project" in await asked.refused("codememory_callers", symbol="add_tax")


def test_a_port_that_is_taken_is_said(port: int, tmp_path: Path):
    with socket.create_server(("127.0.0.1", port)), pytest.raises(CmError) as caught:
        runtime.start_owner()
    assert "port" in str(caught.value) or "owner.log" in str(caught.value)
