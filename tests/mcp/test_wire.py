"""Every request is answered, whatever it holds: over stdio and over HTTP, in both eras of the protocol."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cm_tui.mcp import http_app, wire
from cm_tui.mcp.engine_pool import EnginePool
from cm_tui.mcp.wire import MOST_BYTES, messages_of, read_text, refusal, repaired
from tests.mcp.served import environment, serving

HALF = "\\ud83d"
HUGE = "1" + "0" * 400
START = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def call(tool: str, arguments: str, number: int = 7) -> str:
    """A tool's call, its arguments as they are written."""
    return (
        f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'
    )


ANSWERED = (
    call("codememory_retrieve", f'{{"query":"cart {HALF}"}}'),
    call("codememory_retrieve", f'{{"query":"{HALF}"}}'),
    call("codememory_definitions", f'{{"symbol":"{HALF}Cart"}}'),
    call("memory_get", f'{{"path":"{HALF}"}}'),
    call("codememory_retrieve", f'{{"query":"cart","{HALF}":1}}'),
    call(HALF, "{}"),
    call("codememory_retrieve", f'{{"query":"cart","limit":{HUGE}}}'),
    call("codememory_retrieve", f'{{"query":"cart","limit":{"1" + "0" * 5000}}}'),
    call("codememory_retrieve", f'{{"query":"cart","project":{"[" * 5000}{"]" * 5000}}}'),
    call("codememory_definitions", f'{{"symbol":"{"a" * 300}"}}'),
    call("memory_get", f'{{"path":"{"a" * 300}"}}'),
    call("codememory_retrieve", f'{{"query":"cart","project":"/{"a" * 300}"}}'),
    '{"jsonrpc":"2.0","id":7,"method":5}',
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}',
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}',
    '{"id":7}',
)
"""Requests of id 7."""
NAMELESS = (
    "nonsense",
    "[]",
    "5",
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
)
"""What has no id that could be repeated."""


def answers(root: Path, lines: Sequence[str]) -> list[dict[str, Any]]:
    """Each line's answer; the server would be waited for in vain without one, so a ping goes behind each."""
    server = subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "mcp", "--tools", "all"], cwd=root, env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    found = []
    with server:
        assert server.stdin is not None
        assert server.stdout is not None

        def said(line: str) -> dict[str, Any]:
            server.stdin.write(line + "\n")
            server.stdin.flush()
            return json.loads(server.stdout.readline())

        said(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": START}))
        for line in lines:
            server.stdin.write(line + "\n")
            # Quick work overtakes slow work: the two answers come in any order.
            both = [said('{"jsonrpc":"2.0","id":"ping","method":"ping"}'), json.loads(server.stdout.readline())]
            found += [one for one in both if one.get("id") != "ping"]
        rest, complaints = server.communicate(timeout=60)
    assert not rest.strip()
    assert "Traceback" not in complaints
    assert server.returncode == 0
    return found


@pytest.mark.process
def test_every_line_is_answered_on_stdio(shop: Path):
    found = answers(shop, [*ANSWERED, *NAMELESS])
    assert [one["id"] for one in found] == [7] * len(ANSWERED) + [None] * len(NAMELESS)
    assert "Internal error" not in json.dumps(found)
    assert "Cart" in json.dumps(found[0]["result"])
    assert all("error" in one for one in found[len(ANSWERED) :])


@pytest.mark.process
def test_a_line_without_end_is_answered_and_the_next_one_read(shop: Path):
    endless = call("codememory_retrieve", json.dumps({"query": "x" * (2 * MOST_BYTES)}))
    first, second = answers(shop, [endless, call("codememory_definitions", '{"symbol":"Cart"}', 8)])
    assert first["id"] == 7
    assert "at most" in first["error"]["message"]
    assert second["id"] == 8
    assert "shop/cart.py" in json.dumps(second["result"])


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
async def test_every_body_is_answered_over_http(shop: Path, era: str):
    engines = EnginePool(shop)
    headers = {
        "Accept": "application/json, text/event-stream", "Content-Type": "application/json", "MCP-Protocol-Version": era,
    }  # fmt: skip
    async with (
        serving(http_app(engines)) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as web,
    ):
        if era < "2026":
            start = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": START}
            begun = await web.post("/mcp/all", json=start, headers=headers)
            headers["Mcp-Session-Id"] = begun.headers["mcp-session-id"]
        for body in (*ANSWERED, *NAMELESS):
            answer = await web.post("/mcp/all", content=body.encode(), headers=headers)
            text = answer.text
            assert "Internal error" not in text, body[:100]
            record = json.loads(text.split("data: ", 1)[1] if "data: " in text and text[0] != "{" else text)
            assert {"result", "error"} & set(record), body[:100]
            if era < "2026" or "error" not in record:
                assert record["id"] == (7 if body in ANSWERED else None), body[:100]
    engines.close()


@given(st.text(st.characters(codec=None, categories=None), max_size=40))
def test_halves_become_the_replacement_character_and_all_else_stays(text: str):
    wanted = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert json.loads(repaired(json.dumps(text))) == wanted


def test_pairs_and_escaped_backslashes_stay():
    for text in (r'"\ud83d\ude00"', r'"\\ud83d"', r'"\\\\ud83d"', r'"\n\"\u0041"', '"\ud83d"'):
        assert repaired(text) == text
    assert repaired(r'"\\\ud83d"') == r'"\\\ufffd"'
    assert repaired(r'"\ud83d\ud83d\ude00\ude00"') == r'"\ufffd\ud83d\ude00\ufffd"'


def test_an_id_is_told_in_one_pass():
    """Without an end to its last text, a line of a megabyte would take hours otherwise."""
    said = refusal('{"jsonrpc":"2.0","id":7,"method":"ping","params":"' + '\\"' * 400_000)
    assert said is not None
    assert said.id == 7


def test_a_broken_answer_of_a_client_is_not_answered():
    """An error with its id would be taken for the answer to a request of the client's own."""
    assert refusal('{"jsonrpc":"2.0","id":7,"result":5}') is None
    assert refusal('{"jsonrpc":"2.0","id":7,"error":{}}') is None
    assert refusal('{"jsonrpc":"2.0","method":"notifications/initialized"}') is None
    assert refusal('{"jsonrpc":"2.0","id":7,"method":"ping"}') is None


# --- the edges of a stream ---

PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
NOTICE = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
CANCEL = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'


def pinged(number: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"})


def cancelled(number: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})


class Sent:
    """A stream that keeps what is sent."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    async def send(self, item: Any) -> None:
        self.items.append(item.message)


async def read_all(data: bytes, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], list[Any]]:
    """Messages that are passed on, and answers to what is none; nobody answers requests."""
    monkeypatch.setattr(wire, "LAST_ANSWERS_SECONDS", 0.01)
    lines, sent = wire._Lines(io.BytesIO(data)), Sent()
    lines.answers = wire._Answers(sent, lines.answered)
    return [json.loads(text) async for text in lines], sent.items


@pytest.mark.parametrize(
    ("data", "passed", "refusals"),
    [
        (PING.encode() + b"\r\n", [7], 0),
        (PING.encode(), [7], 0),
        (b"\xef\xbb\xbf" + PING.encode() + b"\n", [7], 0),
        (b"\xef\xbb\xbf\n" + PING.encode() + b"\n\xef\xbb\xbf" + PING.encode(), [7, 7], 0),
        (b"\n\r\n \t\n" + PING.encode() + b"\n\n", [7], 0),
        (f"[{PING},{NOTICE},{PING}]\n".encode(), [7, None, 7], 0),
        (f"[{PING},5,[]]\n{PING}\n".encode(), [7, 7], 2),
        (f"[]\n[{PING}\n{PING}\n".encode(), [7], 2),
        (b"\xff\xfe\n" + PING.encode() + b"\n", [7], 1),
        (PING.encode("utf-16") + b"\n" + PING.encode() + b"\n", [7], 1),
        (PING.encode() + b"\0\n" + PING.encode() + b"\n", [7], 1),
        (b"x" * (MOST_BYTES + 5) + b"\n" + PING.encode() + b"\n", [7], 1),
        (b"".join(pinged(one).encode() + b"\n" for one in (0, -1, "", "0", "x")), [0, -1, "", "0", "x"], 0),
        (b"".join(pinged(one).encode() + b"\n" for one in (None, True, 1.5, {}, [])), [], 5),
        (NOTICE.encode() + b"\n" + b'{"jsonrpc":"2.0","method":"x"}\n', [None, None], 0),
        (
            b"".join(cancelled(one).encode() + b"\n" for one in (None, True, 1.5, {}, [[]])) + PING.encode(),
            [None] * 5 + [7],
            0,
        ),
        (b"", [], 0),
    ],
)
async def test_messages_are_told_apart(
    monkeypatch: pytest.MonkeyPatch, data: bytes, passed: list[object], refusals: int
):
    messages, sent = await read_all(data, monkeypatch)
    assert [message.get("id") for message in messages] == passed
    assert len(sent) == refusals


@given(st.lists(st.sampled_from([PING, NOTICE, "", " ", "\ufeff", "nonsense", "[]", "{}"]), max_size=8), st.booleans())
def test_a_message_is_passed_on_whatever_is_around_it(lines: list[str], crlf: bool):
    end = "\r\n" if crlf else "\n"
    passed = [text for line in lines for text in messages_of(read_text((line + end).encode())) if refusal(text) is None]
    assert [text.strip() for text in passed] == [line for line in lines if line in (PING, NOTICE)]


async def test_the_end_waits_for_requests_in_progress():
    lines = wire._Lines(io.BytesIO(f"{PING}\n{NOTICE}\n".encode()))
    messages = aiter(lines)
    assert [json.loads(await anext(messages)).get("id") for _ in range(2)] == [7, None]
    ended = anyio.Event()

    async def end() -> None:
        assert [text async for text in messages] == []
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(end)
        await anyio.wait_all_tasks_blocked()
        assert not ended.is_set()
        lines.answered(8)
        await anyio.wait_all_tasks_blocked()
        assert not ended.is_set()
        lines.answered(7)


async def test_the_end_does_not_wait_for_what_was_cancelled():
    assert len([text async for text in wire._Lines(io.BytesIO(f"{PING}\n{CANCEL}\n".encode()))]) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only some systems have a device that is always full")
def test_a_piped_call_is_answered_and_a_stdout_that_fails_is_one_line(shop: Path):
    text = f"\ufeff{json.dumps({'jsonrpc': '2.0', 'id': 0, 'method': 'initialize', 'params': START})}\n{NOTICE}\n"
    text += call("codememory_definitions", '{"symbol":"Cart","limit":null}') + "\n"
    command = [sys.executable, "-m", "cm_tui", "mcp"]
    done = subprocess.run(
        command, input=text.encode(), cwd=shop, env=environment(), capture_output=True, timeout=60, check=True
    )
    assert "shop/cart.py" in str(json.loads(done.stdout.splitlines()[1])["result"])
    with Path("/dev/full").open("w") as full:
        failed = subprocess.run(
            command, input=text.encode(), cwd=shop, env=environment(), stdout=full, stderr=subprocess.PIPE, timeout=60,
            check=False,
        )  # fmt: skip
    assert failed.stderr.startswith(b"cm: Cannot write the output: No space left on device.")
    assert failed.returncode == 1
