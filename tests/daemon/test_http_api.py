"""The daemon's paths: whatever comes in, a clean answer goes out, and nobody else notices."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from cm_tui.config import DaemonConfig
from cm_tui.daemon import auth, bootstrap, endpoint, http_api, rpc, runtime_dir
from cm_tui.daemon.connection import Connection
from cm_tui.daemon.daemon_state import DaemonState, Extensions
from cm_tui.daemon.dispatcher import Dispatcher
from cm_tui.daemon.http_api import BODY_BYTES, service
from cm_tui.daemon.open_engine import open_engine
from cm_tui.errors import CancelledError
from cm_tui.model import Cancel, Progress
from tests.cli.conftest import git
from tests.daemon.conftest import HeldRun, make_project, until
from tests.tiers import examples

PROTOCOL = {"cm-protocol": str(endpoint.PROTOCOL)}


class Inside:
    """The application in this process."""

    def __init__(self, state: DaemonState) -> None:
        self.state = state
        self.app = service(state)

    def ask(
        self, method: str, path: str, body: Any = None, content: bytes | None = None, **headers: str
    ) -> httpx.Response:
        async def exchange() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://cm") as client:
                data = json.dumps(body).encode() if content is None else content
                return await client.request(method, path, content=data, headers={**PROTOCOL, **headers})

        return asyncio.run(exchange())


@pytest.fixture
def inside() -> Iterator[Inside]:
    state = DaemonState(DaemonConfig())
    yield Inside(state)
    state.projects.close()


def clean(answer: httpx.Response) -> dict[str, Any]:
    """The error that an answer carries, which is well-formed and of a known class."""
    assert answer.headers["content-type"] == "application/json"
    error = answer.json()["error"]
    assert set(error) == {"class", "message", "hint"}
    assert error["message"]
    assert "Internal" not in error["message"], error
    assert "Traceback" not in answer.text
    return error  # type: ignore[no-any-return]


def test_wrong_paths_and_methods(inside: Inside, tmp_path: Path):
    for method, path, status in (
        ("GET", "/", 404),
        ("GET", "/v1/nothing", 404),
        ("GET", "/v1/../../etc/passwd", 404),
        ("GET", "/v1/call/search", 405),
        ("POST", "/v1/health", 405),
        ("POST", "/v1/call/close", 400),
        ("POST", "/v1/call/__init__", 400),
        ("POST", "/v1/call/index", 400),
        ("POST", "/v1/stream/search", 400),
        ("POST", "/v1/call/%2e%2e%2fstatus", 404),
        ("GET", "/v1/jobs/99", 404),
        ("POST", "/v1/jobs/x/cancel", 404),
    ):
        answer = inside.ask(method, path, {"where": {"folder": str(tmp_path)}, "arguments": {}})
        assert answer.status_code == status, (method, path)
        clean(answer)


@pytest.mark.parametrize(
    "path", ["/v1/call/status", "/v1/stream/index", "/v1/project", "/v1/nudge", "/v1/upkeep/remove"]
)
def test_wrong_bodies(inside: Inside, path: str):
    for content in (
     b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"where": 1}', b'{"where": {"folder": "relative"}}', b"[" * 200_000,
     b'{"where": {"folder": "/a\\u0000b"}}', b'{"where": {"folder": "/tmp", "shell": "rm"}}', b'{"a": 1e999}',
     b'{"where": {"folder": "/%s"}, "root": "/%s"}' % (b"long/" * 1_800, b"long/" * 1_800),
     b'{"where": {"folder": "/%s"}, "root": "/%s"}' % (b"x" * 300, b"x" * 300),
     b'{"where": {"folder": "/a"}, "root": "/a\\u0000b"}',
     b'{"where": {"folder": "/no/such/folder"}, "arguments": {}}', b'{"where": {"folder": "/etc"}, "arguments": {}}',
    ):  # fmt: skip
        answer = inside.ask("POST", path, content=content)
        assert answer.status_code in (400, 403, 404), content
        clean(answer)


def test_too_large_a_body(inside: Inside):
    answer = inside.ask("POST", "/v1/call/search", content=b" " * (BODY_BYTES + 1))
    assert answer.status_code == 400
    assert "bytes" in clean(answer)["message"]


def test_another_protocol(inside: Inside):
    for theirs in ("", "0", "x" * 900):
        said = {"cm-protocol": theirs}
        answer = inside.ask("POST", "/v1/call/status", {}, **said)
        assert answer.status_code == 426
        assert "protocol" in clean(answer)["message"]
        assert inside.ask("GET", "/v1/health", **said).json()["protocol"] == endpoint.PROTOCOL


def test_token(monkeypatch: pytest.MonkeyPatch):
    inside = Inside(DaemonState(DaemonConfig(), token="secret"))
    for said in ({}, {"authorization": "Bearer wrong"}, {"authorization": "secret"}):
        for path in ("/v1/health", "/v1/jobs"):
            answer = inside.ask("GET", path, **said)
            assert answer.status_code == 401
            assert "secret" not in clean(answer)["message"]
    known = {"authorization": "Bearer secret", "host": "127.0.0.1"}
    assert inside.ask("GET", "/v1/health", **known | {"host": "evil.example"}).status_code == 421
    assert inside.ask("GET", "/v1/health", **known, origin="null").status_code == 403
    assert inside.ask("GET", "/v1/health", **known).status_code == 403
    # Where there is no private socket, this is the way for every client.
    monkeypatch.setattr(auth, "HAS_UNIX", False)
    assert inside.ask("GET", "/v1/health", **known).status_code == 200


def test_only_stores_are_removed(inside: Inside, cm_home: Path):
    (cm_home / "keep").write_text("")
    for store in ("..", ".", "", "../projects", "/etc", "a/b", "a\0b", "x/../../.."):
        answer = inside.ask("POST", "/v1/upkeep/remove", {"store": store})
        assert answer.status_code == 403, store
        clean(answer)
        assert (cm_home / "keep").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.deferred(
    lambda: st.sampled_from(
        [name for method in rpc.METHODS.values() for name in method._arguments.core_schema.get("fields", {})]
    )
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("fuzzed") / "shop")


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_arguments_crash_a_method(inside: Inside, fuzzed: Path, data: st.DataObject):
    where = rpc.ProjectRef(str(fuzzed))
    if not inside.state.jobs.records():
        inside.state.dispatcher.start("index", where, {}).wait()
    name = data.draw(st.sampled_from(sorted(set(rpc.METHODS) - {"index", "rebuild", "doctor"})))
    arguments = data.draw(
        JSON | st.dictionaries(NAMES, JSON | st.sampled_from(["shop/cart.py", "add_tax"]), max_size=3)
    )
    answer = inside.ask("POST", f"/v1/call/{name}", {"where": rpc.plain(where), "arguments": arguments})
    if answer.status_code != 200:
        clean(answer)
    assert answer.status_code in (200, 400, 403, 404)


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(st.characters(codec="utf-8"), max_size=30), body=JSON, content=st.none() | st.binary(max_size=50))
def test_no_request_crashes_the_daemon(inside: Inside, path: str, body: Any, content: bytes | None):
    for prefix in ("/v1/", "/v1/call/", "/v1/jobs/", "/v1/stream/"):
        answer = inside.ask("POST", prefix + quote(path), body, content)
        assert answer.status_code != 500
        if answer.status_code not in (200, 307):
            clean(answer)


# --- what joins ---


def test_mounted_application_and_background(tmp_path: Path):
    heard: list[Path] = []

    class Listens:
        def start(self, dispatcher: Dispatcher) -> None:
            assert dispatcher.jobs.records() == []

        def on_nudge(self, root: Path) -> None:
            heard.append(root)

        def close(self) -> None:
            heard.append(Path("closed"))

    async def hello(_: Request) -> PlainTextResponse:
        return PlainTextResponse("mounted")

    joining = Extensions({"/mcp": Starlette(routes=[Route("/hello", hello)])}, (Listens(),))
    inside = Inside(DaemonState(DaemonConfig(), extend=lambda _: joining))
    assert inside.ask("GET", "/mcp/hello").text == "mounted"
    assert inside.ask("POST", "/v1/nudge", {"root": str(tmp_path)}).status_code == 200
    assert heard == [tmp_path]
    assert inside.ask("POST", "/v1/nudge", {"root": "relative"}).status_code == 400


# --- over the socket ---


def test_long_work_that_is_asked_of_a_daemon_that_hands_over_is_left_to_the_next(
    inside: Inside, shop_root: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(http_api, "CLOSE_S", 0.0)
    asked = "POST", "/v1/stream/index", {"where": {"folder": str(shop_root)}, "arguments": {}}
    inside.state.handing_over = True
    inside.state.jobs.close()
    inside.state.done.set()
    answer = inside.ask(*asked)
    # A job's stream ends with a word about its end: without one the client goes on with the next daemon.
    assert (answer.status_code, answer.content) == (200, b"")
    inside.state.handing_over = False
    assert "stopping" in clean(inside.ask(*asked))["message"]


def test_nudge_is_heard_by_listeners(owned: Path):
    bootstrap.start_daemon()
    line = Connection(60)
    lines = line.lines("GET", "/v1/events")
    assert next(lines) == (200, b"")
    assert bootstrap.notify(owned)
    event = next(json.loads(data) for _, data in lines if data)
    assert (event["event"], event["project"]) == ("nudge", str(owned))
    line.close()


def test_half_open_connections_stop_nobody(owned: Path, shop_root: Path):
    engine = open_engine(shop_root)
    list(engine.index())
    halves = []
    beginnings = [
        b"", b"POST /v1/call/search HTTP/1.1\r\nHo", b"POST /v1/call/search HTTP/1.1\r\nContent-Length: 99\r\n\r\n{",
        b"GET /v1/events HTTP/1.1\r\nHost: cm\r\ncm-protocol: 1\r\n\r\n", b"\x00\xff garbage \r\n\r\n",
    ]  # fmt: skip
    for beginning in beginnings * 10:
        half = socket.socket(socket.AF_UNIX)
        half.connect(str(runtime_dir.socket_path()))
        half.sendall(beginning)
        halves.append(half)
    assert engine.search("tax").hits
    for half in halves:
        half.close()
    assert engine.search("tax").hits
    until(lambda: (bootstrap.health() or {})["listeners"] == 0, "the listeners to be forgotten")
    engine.close()


def test_half_open_connections_do_not_keep_it_from_ending(owned: Path):
    bootstrap.start_daemon()
    with socket.socket(socket.AF_UNIX) as half:
        half.connect(str(runtime_dir.socket_path()))
        half.sendall(b"POST /v1/call/search HTTP/1.1\r\nContent-Length: 99\r\n\r\n{")
        assert bootstrap.stop_daemon(timeout=80)


def _started(root: Path, *, attached: bool) -> tuple[Connection, Iterator[tuple[int, bytes]], str]:
    line = Connection(60)
    body = {"where": {"folder": str(root)}, "arguments": {}, "attached": attached}
    lines = line.lines("POST", "/v1/stream/index", body)
    return line, lines, json.loads(next(lines)[1])["job"]


def _jobs() -> list[dict[str, Any]]:
    answer = bootstrap.request("GET", "/v1/jobs")
    assert answer is not None
    return [job for job in json.loads(answer[1])["result"] if job["name"] == "index"]


def _job(number: str) -> dict[str, Any]:
    return next(job for job in _jobs() if job["id"] == number)


def test_a_job_is_cancelled_from_another_client_and_by_its_own(owned: Path, shop_root: Path, held: HeldRun):
    engine = open_engine(shop_root)
    steps = engine.index()
    next(step for step in steps if step.stage == "parse")
    (job,) = _jobs()
    assert (job["state"], job["project"], job["name"]) == ("running", str(shop_root), "index")
    assert bootstrap.request("POST", f"/v1/jobs/{job['id']}/cancel", {}) == (200, b'{"result":true}')
    with pytest.raises(CancelledError):
        list(steps)
    assert _job(job["id"])["state"] == "cancelled"
    cancel = Cancel()
    steps = engine.index(cancel=cancel)
    next(step for step in steps if step.stage == "parse")
    cancel.set()
    with pytest.raises(CancelledError):
        list(steps)
    held.go_on.set()
    assert list(engine.index())[-1].summary is not None
    engine.close()


def test_a_client_that_goes_away_ends_its_job_only_if_it_asked_for_that(owned: Path, shop_root: Path, held: HeldRun):
    bootstrap.start_daemon()
    for attached, state in ((True, "cancelled"), (False, "done")):
        line, lines, number = _started(shop_root, attached=attached)
        next(data for _, data in lines if b'"parse"' in data)
        line.close()
        if not attached:
            held.go_on.set()
        until(lambda number=number: _job(number)["ended"] is not None, "the job's end")
        assert _job(number)["state"] == state


def test_a_job_can_be_watched_from_its_beginning_by_anybody(owned: Path, shop_root: Path):
    bootstrap.start_daemon()
    line, lines, number = _started(shop_root, attached=False)
    watcher = Connection(60)
    seen = [json.loads(data) for _, data in watcher.lines("GET", f"/v1/jobs/{number}") if data]
    own = [json.loads(data) for _, data in lines if data]
    assert seen[1:] == own
    assert own[0]["step"]["stage"] == "scan"
    assert own[-1] == {"end": "done"}
    line.close()
    watcher.close()


def test_long_work_of_a_project_waits_for_its_turn(owned: Path, shop_root: Path):
    engines = [open_engine(shop_root) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda engine: list(engine.index())[-1].summary, engines))
    assert [summary.files for summary in done if summary] == [6] * 3
    assert sorted(summary.blobs for summary in done if summary) == [0, 0, 6]
    for engine in engines:
        engine.close()


def test_questions_are_answered_while_an_index_run_is_on(inside: Inside, shop_root: Path):
    dispatcher = inside.state.dispatcher
    where = rpc.ProjectRef(str(shop_root))
    dispatcher.start("index", where, {}).wait()
    going, go_on = threading.Event(), threading.Event()

    def run(_: Cancel) -> Iterator[Progress]:
        with dispatcher.pool.acquire(where) as project:
            yield from itertools.islice(project.engine.index(full=True), 2)
            going.set()
            assert go_on.wait(60)

    root, store = dispatcher.pool.locate(where)
    job = dispatcher.jobs.submit(store, root, "index", run)
    assert going.wait(60)
    # HEAD has moved as well: a question that waited for the next run would wait for ever.
    git(shop_root, "commit", "-q", "--allow-empty", "-m", "on")
    for name, arguments in (("search", {"query": "tax"}), ("callers", {"name": "add_tax"}), ("status", {})):
        answer = inside.ask("POST", f"/v1/call/{name}", {"where": rpc.plain(where), "arguments": arguments})
        assert answer.status_code == 200
    assert "in progress" in dispatcher.call("search", where, {"query": "tax"}).notes[0]
    assert job.state == "running"
    go_on.set()
    job.wait()
    assert "HEAD moved" in dispatcher.call("search", where, {"query": "tax"}).notes[0]
