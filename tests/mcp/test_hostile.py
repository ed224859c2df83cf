"""Every argument of every tool, resource and prompt with what nobody means to send: an answer or a refusal, never a crash."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference

from tests.mcp.served import EVERY_CALL, Answers, answering

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
STEP = 6
"""Every argument with every value takes a minute."""
CALLS = {name: arguments for name, arguments in EVERY_CALL if name != "codememory_ingest"} | {
    "codememory_ingest": {"since": "HEAD"}
}


def hostile(kind: Any) -> tuple[Any, ...]:
    """Values for an argument of a schema's type."""
    return (*TEXTS, *ODD) if kind == "string" else (*NUMBERS, *TEXTS[:12], DEEP)


def types_of(schema: dict[str, Any]) -> str:
    return schema.get("type") or next((one.get("type", "") for one in schema.get("anyOf", ())), "")


@pytest.mark.few(1)
@pytest.mark.parametrize("turns", range(STEP))
async def test_every_argument_of_every_tool(own: Path, turns: int):
    """Each argument gets some of the values in turn, so that all kinds of arguments together get all of them."""
    async with answering(own) as asked:
        for tool in (await asked.client.list_tools()).tools:
            for argument, schema in tool.input_schema["properties"].items():
                turns += 1
                for value in hostile(types_of(schema))[turns % STEP :: STEP]:
                    await never_crashes(asked, tool.name, argument, value)


async def never_crashes(asked: Answers, name: str, argument: str, value: Any) -> None:
    where = f"{name}({argument}={str(value)[:60]!r})"
    try:
        result = await asked.call(name, **{**CALLS[name], argument: value})
    except MCPError as error:
        pytest.fail(f"{where}: {error}")
    text = result.content[0].text
    for crash in ("Internal error", "Traceback", "Error executing", "cm serve"):
        assert crash not in text, f"{where}: {text[:300]}"


async def test_resources_prompts_and_completion(shop: Path):
    async with answering(shop) as asked:
        for text in filter(str.strip, TEXTS):
            await nothing_breaks(asked.client, text)


async def nothing_breaks(client: Client, text: str) -> None:
    asked_for = quote(text, safe="")
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
