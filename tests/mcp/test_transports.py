"""Every tool over every transport, in both eras of the protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from jsonschema import Draft202012Validator

from cm_tui.mcp import http_app
from cm_tui.mcp.engine_pool import EnginePool
from cm_tui.mcp.tools import TOOLS
from tests.cli.in_process import run_here
from tests.dotnet import add_assembly
from tests.mcp.served import EVERY_CALL, answering, environment, serving

STDIO = pytest.param("stdio", "legacy", marks=pytest.mark.process)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("way", "mode"),
    [("memory", "auto"), STDIO, ("http", "auto"), pytest.param("http", "legacy", marks=pytest.mark.deep)],
)
async def test_every_tool_answers_as_its_schema_says(own: Path, way: str, mode: str):
    assert {name for name, _ in EVERY_CALL} == {kind.name for kind in TOOLS}
    add_assembly(own)
    async with answering(own, way, mode=mode) as asked:
        schemas = {tool.name: tool.output_schema for tool in (await asked.client.list_tools()).tools}
        for name, arguments in EVERY_CALL:
            text, record = await asked.ok(name, **arguments)
            assert text.strip()
            Draft202012Validator.check_schema(schemas[name])
            Draft202012Validator(schemas[name]).validate(record)


@pytest.mark.parametrize("way", ["memory", "http"])
async def test_resources_prompts_and_completion_on_every_transport(shop: Path, way: str):
    async with answering(shop, way) as asked:
        client = asked.client
        assert [str(r.uri) for r in (await client.list_resources()).resources] == ["cm://project"]
        templates = (await client.list_resource_templates()).resource_templates
        assert {t.name for t in templates} == {"project_of", "file", "symbol"}
        read = await client.read_resource("cm://file/shop/money.py?start=3&end=3")
        assert read.contents[0].text == "TAX_PERCENT = 19"
        assert {p.name for p in (await client.list_prompts()).prompts} == {"explain_symbol", "context_for_task"}
        prompt = await client.get_prompt("explain_symbol", {"symbol": "add_tax"})
        assert "shop/cart.py:18" in prompt.messages[0].content.text


@pytest.mark.process
def test_stdout_carries_nothing_but_the_protocol(shop: Path):
    """Whatever is printed on the way, by us or by a library, ends on stderr."""
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize",
         "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
         "params": {"name": "codememory_retrieve", "arguments": {"query": "cart"}}},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call",
         "params": {"name": "codememory_definitions", "arguments": {"symbol": "nothing_like_it"}}},
        {"jsonrpc": "2.0", "id": 4, "method": "nonsense"},
    ]  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "cm_tui", "mcp"], cwd=shop, env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with server:
        answers = {}
        for request in requests:
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            if "id" in request:
                answer = json.loads(server.stdout.readline())
                assert answer["jsonrpc"] == "2.0"
                answers[answer["id"]] = answer
        server.stdin.write("this is not JSON\n")
        rest, complaints = server.communicate(timeout=60)
    for line in filter(None, rest.splitlines()):
        assert json.loads(line)["jsonrpc"] == "2.0"
    assert server.returncode == 0, complaints
    assert "Cart" in answers[2]["result"]["content"][0]["text"]
    assert answers[3]["result"]["isError"] is True
    assert answers[4]["error"]["code"] == -32601
    assert "Traceback" not in complaints


def test_wrong_options_end_with_a_message(shop: Path):
    code, out, err = run_here(("mcp", "--tools", "core,everything"), cwd=shop, environment={}, stdin="")
    assert (code, out) == (2, "")
    assert "everything" in err
    assert "core, graph, temporal, memory, all" in err


async def test_a_web_page_and_a_giant_body_are_turned_away(shop: Path):
    engines = EnginePool(shop)
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"Accept": "application/json, text/event-stream"}
    async with serving(http_app(engines)) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as web:
        evil = await web.post("/mcp", json=body, headers={**headers, "Origin": "https://evil.example"})
        assert evil.status_code == 403
        rebound = await web.post("/mcp", json=body, headers={**headers, "Host": "evil.example"})
        assert rebound.status_code in (403, 421)
        giant = await web.post("/mcp", json={**body, "params": {"x": "y" * 2_000_000}}, headers=headers)
        assert giant.status_code == 413
    engines.close()
