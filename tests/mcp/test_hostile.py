"""Every argument of every tool, resource and prompt with what nobody means to send: an answer or a refusal, never a crash."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from cm_tui.mcp.tools import TOOLS
from tests.mcp.served import EVERY_CALL, answering

HUGE = 10**400
DEEP: Any = "x"
for _ in range(100):
    DEEP = [DEEP]
NUMBERS = (HUGE, -HUGE, 2**63, 0, -1, 1e300, float("nan"), str(HUGE), None, True, [])
TEXTS = (
    "a" * 256, "a" * 5000, "a/" * 2040 + "x", "\0", "../../etc/passwd", "//", "%", "\\", "\n", "\u202e😀\u2028", "\ufffd",
    "'; DROP TABLE symbol; --", "(?", "#" + "9" * 100, "HEAD~99999999999999999999", "HEAD:shop", "9999-12-31", "", " ",
)  # fmt: skip
ODD = (5, None, [], DEEP)
CALLS = {name: arguments for name, arguments in EVERY_CALL if name != "codememory_ingest"} | {
    "codememory_ingest": {"since": "HEAD"}
}


def hostile(kind: Any) -> tuple[Any, ...]:
    """Values for an argument of a schema's type."""
    return (*TEXTS, *ODD) if kind == "string" else (*NUMBERS, *TEXTS[:12], DEEP)


def types_of(schema: dict[str, Any]) -> str:
    return schema.get("type") or next((one.get("type", "") for one in schema.get("anyOf", ())), "")


@pytest.mark.parametrize("name", [kind.name for kind in TOOLS])
async def test_every_argument_of_a_tool(own: Path, name: str):
    async with answering(own) as asked:
        [tool] = [tool for tool in (await asked.client.list_tools()).tools if tool.name == name]
        for argument, schema in tool.input_schema["properties"].items():
            for value in hostile(types_of(schema)):
                try:
                    result = await asked.call(name, **{**CALLS[name], argument: value})
                except MCPError as error:
                    pytest.fail(f"{name}({argument}={str(value)[:60]!r}): {error}")
                text = result.content[0].text
                where = f"{name}({argument}={str(value)[:60]!r}): {text[:300]}"
                assert "Internal error" not in text, where
                assert "Traceback" not in text, where
                assert "Error executing" not in text, where
                assert "cm serve" not in text, where


@pytest.mark.parametrize("text", [text for text in TEXTS if text.strip()], ids=lambda text: repr(text[:20]))
async def test_resources_prompts_and_completion(shop: Path, text: str):
    asked_for = quote(text, safe="")
    async with answering(shop) as asked:
        client = asked.client
        for make in (
            lambda: client.read_resource(f"cm://file/{asked_for}"),
            lambda: client.read_resource(f"cm://file/shop/cart.py?start={asked_for}"),
            lambda: client.read_resource(f"cm://file/shop/cart.py?end={asked_for}"),
            lambda: client.read_resource(f"cm://symbol/{asked_for}"),
            lambda: client.read_resource(f"cm://project?project={asked_for}"),
            lambda: client.get_prompt("explain_symbol", {"symbol": text}),
            lambda: client.get_prompt("context_for_task", {"task": text, "budget": "800"}),
            lambda: client.get_prompt("context_for_task", {"task": "tax", "budget": text}),
            lambda: client.complete(PromptReference(name="explain_symbol"), {"name": "symbol", "value": text}),
        ):
            said = ""
            try:
                await make()
            except MCPError as error:
                said = error.message
            assert not re.search(r"Internal|Error executing|Error reading|Traceback", said), (text, said)
