"""Agents reach the daemon over HTTP on a port of this machine, with its token."""

from __future__ import annotations

import http.client
import socket
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest

from cm_tui.daemon import bootstrap, endpoint, process
from cm_tui.daemon.checkup import examine
from cm_tui.daemon.open_engine import open_engine
from cm_tui.daemon.process import CONNECTIONS
from cm_tui.tui.modes.health.daemon_texts import daemon_text, gather
from tests.cli.conftest import Shop
from tests.daemon.conftest import make_project
from tests.mcp.served import PATIENCE


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


def test_knocking_at_the_port_locks_nobody_out(port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "REQUEST_S", 3.0)
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
