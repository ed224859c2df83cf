"""The port that agents come to: on this machine alone, with the token, and for what its user has indexed."""

from __future__ import annotations

import json
import socket
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from cm_tui import paths
from cm_tui.daemon import bootstrap, endpoint
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.port_token import FILE, port_token
from cm_tui.errors import RefusedError
from tests.cli.conftest import Shop, git
from tests.daemon.conftest import make_project
from tests.mcp.served import PATIENCE, Answers

HELLO = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "initialize",
     "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
)  # fmt: skip


def sent(port: int, *lines: str, path: str = "/mcp", method: str = "POST", body: str = HELLO) -> tuple[int, str]:
    """Status and body of one request, written by hand."""
    head = [f"{method} {path} HTTP/1.1", *lines, "Content-Type: application/json", "Connection: close",
            "Accept: application/json, text/event-stream", f"Content-Length: {len(body)}"]  # fmt: skip
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as channel:
        channel.sendall("\r\n".join([*head, "", body]).encode())
        answer = b""
        while piece := channel.recv(65536):
            answer += piece
    return int(answer.split(b" ", 2)[1]), answer.decode()


@pytest.fixture
def running(port: int) -> int:
    bootstrap.start_daemon()
    return port


def test_only_this_machine_is_listened_to(running: int):
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {fields[1] for fields in lines if fields[3] == "0A" and fields[1].endswith(f":{running:04X}")}
    assert listening == {f"0100007F:{running:04X}"}
    everywhere = [line for line in Path("/proc/net/tcp6").read_text().splitlines() if f":{running:04X} " in line]
    assert not [line for line in everywhere if line.split()[3] == "0A"]


def test_requests_without_the_token_are_turned_away_everywhere(running: int):
    token, here = port_token(), f"Host: 127.0.0.1:{running}"
    for path in (
        "/mcp",
        "/mcp/",
        "/mcp/all",
        "/mcp/graph",
        "/v1/health",
        "/v1/jobs",
        "/v1/call/status",
        "/v1/shutdown",
        "/v1/hook/prompt",
        "/none",
    ):
        for lines in (
            [here],
            [here, "Authorization: Bearer"],
            [here, "Authorization: Bearer "],
            [here, f"Authorization: {token}"],
            [here, f"Authorization: Basic {token}"],
            [here, f"Authorization: Bearer {token[:-1]}"],
            [here, f"Authorization: Bearer {token}x"],
            [here, f"Authorization: Bearer {token.swapcase()}"],
            [here, f"Cookie: token={token}"],
            [here, f"Mcp-Session-Id: {token}"],
        ):
            assert sent(running, *lines, path=path)[0] == 401, (path, lines)
        for query in (f"token={token}", f"access_token={token}", f"authorization=Bearer%20{token}"):
            assert sent(running, here, path=f"{path}?{query}")[0] == 401
    status, answer = sent(running, here, f"Authorization: Bearer {token}")
    assert status == 200
    assert "cm-tui" in answer


def test_requests_that_are_meant_for_another_host_are_turned_away(running: int):
    """A page whose name was made to lead to this machine still sends its own name."""
    said = f"Authorization: Bearer {port_token()}"
    for host in ("evil.example", f"evil.example:{running}", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0",
                 f"127.0.0.2:{running}", "", "127.0.0.1:x", "[::2]", "127.0.0.1@evil.example", "2130706433"):  # fmt: skip
        for path in ("/mcp", "/mcp/graph", "/v1/health"):
            assert sent(running, f"Host: {host}", said, path=path)[0] == 421, (host, path)
    assert sent(running, said)[0] == 400
    assert sent(running, "Host: 127.0.0.1", "Host: evil.example", said)[0] in (400, 421)
    for host in ("127.0.0.1", f"127.0.0.1:{running}", f"localhost:{running}", "LOCALHOST"):
        assert sent(running, f"Host: {host}", said)[0] in (200, 421 if host.isupper() else 200)


def test_pages_elsewhere_are_turned_away(running: int):
    said = [f"Host: 127.0.0.1:{running}", f"Authorization: Bearer {port_token()}"]
    for origin in ("null", "http://evil.example", "https://evil.example", "http://127.0.0.1.evil.example", "file://", "",
                   "http://localhost.evil.example:80", f"http://evil.example:{running}", "localhost", "://localhost.x"):  # fmt: skip
        for path in ("/mcp", "/mcp/all", "/v1/health"):
            assert sent(running, *said, f"Origin: {origin}", path=path)[0] == 403, (origin, path)
    # What a browser asks before it sends a header of its own.
    asked = [f"Host: 127.0.0.1:{running}", "Origin: http://evil.example", "Access-Control-Request-Method: POST"]
    status, answer = sent(running, *asked, "Access-Control-Request-Headers: authorization", method="OPTIONS")
    assert status == 401
    assert "access-control-allow" not in answer.lower()
    assert sent(running, *said, f"Origin: http://127.0.0.1:{running}")[0] == 200


def test_the_port_is_for_agents_alone(running: int, tmp_path: Path):
    """The daemon's own paths take any folder."""
    root = make_project(tmp_path / "one")
    said = [f"Host: 127.0.0.1:{running}", f"Authorization: Bearer {port_token()}", f"cm-protocol: {endpoint.PROTOCOL}"]
    about = json.dumps({"where": {"folder": str(root)}, "arguments": {}})
    for path in ("/v1/project", "/v1/call/status", "/v1/stream/index", "/v1/nudge", "/v1/shutdown", "/v1/hook/prompt",
                 "/v1/upkeep/remove", "/v1/jobs", "/v1/events", "/v1/health", "/mcpx", "/", "/mcp/../v1/health", "//v1/health"):  # fmt: skip
        status, answer = sent(running, *said, path=path, body=about)
        assert status in (403, 404), (path, answer)
    assert bootstrap.health() is not None
    assert not list((paths.data_dir() / "projects").glob("*"))


# --- the token ---


def test_the_token_is_a_private_file_that_stays(running: int, owned: Path):
    file = paths.runtime_dir() / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_text()
    bootstrap.stop_daemon()
    bootstrap.start_daemon()
    assert file.read_text() == before


def test_a_person_gets_the_token_by_a_command_and_nowhere_else(running: int, owned: Path, tmp_path: Path):
    shop = Shop(make_project(tmp_path / "one"), owned)
    token = shop.cm("mcp", "--token").out.strip()
    assert token == port_token()
    assert sent(running, "Host: localhost", f"Authorization: Bearer {token}")[0] == 200
    for words in (("serve", "--status"), ("serve", "--status", "--json"), ("doctor",), ("status", "--json")):
        said = shop.cm(*words)
        assert token not in said.out + said.err
    assert token not in (owned / "state/daemon.log").read_text()


def test_a_token_that_others_can_read_is_none(port: int, owned: Path, tmp_path: Path):
    known = port_token()
    for mode in (0o644, 0o640, 0o660, 0o606):
        (paths.runtime_dir() / FILE).chmod(mode)
        with pytest.raises(RefusedError, match="other users can read it"):
            port_token()
    refused = Shop(tmp_path, owned).cm("mcp", "--token")
    assert (refused.code, refused.out) == (4, "")
    bootstrap.start_daemon()
    assert port_token() != known
    assert sent(port, "Host: localhost", f"Authorization: Bearer {known}")[0] == 401
    assert sent(port, "Host: localhost", f"Authorization: Bearer {port_token()}")[0] == 200


def test_a_token_is_no_link_and_no_rubbish(owned: Path, tmp_path: Path):
    known = port_token()
    file = paths.runtime_dir() / FILE
    other = tmp_path / "other"
    other.write_text(known)
    other.chmod(0o600)
    file.unlink()
    file.symlink_to(other)
    with pytest.raises(RefusedError):
        port_token()
    assert port_token(replace=True) != known
    assert other.read_text() == known
    for rubbish in ("", "short", "x" * 900, "with spaces " * 5):
        file.write_text(rubbish)
        with pytest.raises(RefusedError, match="contains no token"):
            port_token()
    file.unlink()
    other.chmod(0o600)
    file.hardlink_to(other)
    with pytest.raises(RefusedError):
        port_token()


# --- what is answered ---


@asynccontextmanager
async def agent(port: int) -> AsyncIterator[Answers]:
    """An agent that comes over HTTP."""
    web = httpx2.AsyncClient(headers={"Authorization": f"Bearer {port_token()}"}, timeout=PATIENCE)
    url = f"http://127.0.0.1:{port}/mcp/all"
    async with web, Client(streamable_http_client(url, http_client=web), read_timeout_seconds=PATIENCE) as client:
        yield Answers(client)


def index(root: Path) -> None:
    engine = open_engine(root)
    for _ in engine.index():
        pass
    engine.close()


async def test_over_http_only_what_its_user_has_indexed_is_answered(running: int, tmp_path: Path):
    mine, neighbour = (make_project(tmp_path / name) for name in ("mine", "neighbour"))
    keys = tmp_path / "home/.aws"
    keys.mkdir(parents=True)
    (keys / "credentials").write_text("never\n")
    index(mine)
    async with agent(running) as asked:
        await asked.ok("codememory_definitions", symbol="Cart", project=str(mine))
        await asked.ok("codememory_ingest", confirmed=True, project=str(mine))
        for folder in (neighbour, keys, tmp_path, tmp_path / "none"):
            for tool, more in (
                ("codememory_ingest", {"confirmed": True}),
                ("codememory_drift", {}),
                ("memory_get", {"path": "x"}),
            ):
                said = await asked.refused(tool, project=str(folder), **more)
                assert "has no access to" in said, said
                assert "`cm index`" in said
                assert "`mcp.roots`" in said
        assert "is required" in await asked.refused("codememory_drift")
        assert len(list((paths.data_dir() / "projects").iterdir())) == 1
        # Their user gives more, while the daemon runs.
        text = paths.config_file().read_text()
        paths.config_file().write_text(f"{text}[mcp]\nroots = [{str(neighbour)!r}]\n")
        await asked.ok("codememory_ingest", confirmed=True, project=str(neighbour))
        for root in (mine, neighbour):
            text, _ = await asked.ok("codememory_callers", symbol="add_tax", project=str(root))
            assert "Cart.total" in text
        assert "has no access to" in await asked.refused("codememory_ingest", project=str(keys))


async def test_over_http_a_worktree_is_answered_and_a_clone_of_the_same_name_is_not(running: int, tmp_path: Path):
    mine = make_project(tmp_path / "mine")
    git(mine, "remote", "set-url", "origin", "https://example.org/shared.git")
    index(mine)
    tree, clone = tmp_path / "tree", tmp_path / "clone"
    git(mine, "worktree", "add", "-q", str(tree))
    (tree / "shop/own.py").write_text("def only_in_the_tree():\n    return 1\n")
    git(tmp_path, "clone", "-q", str(mine), str(clone))
    git(clone, "remote", "set-url", "origin", "https://example.org/shared.git")
    async with agent(running) as asked:
        _, found = await asked.ok("codememory_definitions", symbol="only_in_the_tree", project=str(tree))
        assert found["total"] == 1
        await asked.refused("codememory_definitions", symbol="only_in_the_tree", project=str(mine))
        assert "has no access to" in await asked.refused("codememory_definitions", symbol="Cart", project=str(clone))
        assert "has no access to" in await asked.refused("codememory_ingest", confirmed=True, project=str(clone))
