"""What a caller can do wrong: each mistake comes back as an answer that helps, and nothing crashes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult

from cm_tui.mcp.server import lenient_params
from cm_tui.mcp.tools import TOOLS
from tests.mcp.served import EVERY_CALL, answering
from tests.tiers import examples

MISTAKES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("codememory_retrieve", {}, "query: Field required"),
    ("codememory_retrieve", {"query": ""}, "query: String should have at least 1 character"),
    ("codememory_retrieve", {"query": "x" * 20_001}, "at most 20000 characters"),
    ("codememory_retrieve", {"query": "x", "limit": 51}, "limit: Input should be less than or equal to 50"),
    ("codememory_retrieve", {"query": "x", "limt": 5}, "limt: Unknown argument. Did you mean limit?"),
    ("recall", {"questoin": "x", "question": "x"}, "questoin: Unknown argument. Did you mean question?"),
    ("codememory_drift", {"zzz": 1}, "zzz: Unknown argument. The arguments are "),
    ("codememory_drift", {"z" * 100_000: 1}, "zzz…: Unknown argument."),
    ("codememory_retrieve", {"query": None}, "query: Field required"),
    ("codememory_retrieve", {"query": "x", "mode": "magic"}, "mode: Input should be"),
    ("codememory_callers", {"symbol": "x", "depth": 4}, "depth: Input should be less than or equal to 3"),
    ("codememory_callers", {"symbol": "x\0y"}, "symbol: Value error, holds a NUL character"),
    ("codememory_callers", {"symbol": "Cart.totl"}, "No definition found: Cart.totl.\nDid you mean total?"),
    ("codememory_dependencies", {"path": "shop/crt.py"}, "Did you mean shop/cart.py"),
    ("codememory_assembly_members", {"type_name": "JsonConvert"}, "no .NET project files"),
    ("codememory_importers", {"target": "no.such"}, "No file or import is named no.such"),
    ("memory_get", {"path": "a" * 300}, "name too long"),
    ("codememory_dependencies", {"path": "a/" * 2000}, "a/"),
    ("codememory_ingest", {"since": "no-such-commit"}, "no-such-commit"),
    ("codememory_reingest", {"path": []}, "at least 1 item"),
    ("memory_get", {"path": "package-lock.json"}, "is not in the index"),
)  # fmt: skip


async def test_mistakes_are_explained(shop: Path):
    async with answering(shop) as asked:
        for tool, arguments, said in MISTAKES:
            assert said in await asked.refused(tool, **arguments), (tool, str(arguments)[:80])


async def test_what_is_null_counts_as_left_out(own: Path):
    tools = {kind.name: kind.tool().parameters for kind in TOOLS}
    async with answering(own) as asked:
        for tool, arguments in EVERY_CALL:
            optional = set(tools[tool]["properties"]) - set(tools[tool].get("required", ())) - set(arguments)
            plain = await asked.call(tool, **arguments)
            nulls = await asked.call(tool, **arguments, **dict.fromkeys(optional))
            assert nulls.is_error == plain.is_error, (tool, nulls.content)
        lists = await asked.call("codememory_reingest", path=["shop/cart.py", None])
        assert not lists.is_error, lists.content


@pytest.mark.parametrize(
    ("given_", "handled"),
    [
        (None, None),
        ({}, {}),
        ({"cursor": None}, {}),
        ({"arguments": None, "name": "x"}, {"name": "x"}),
        ({"arguments": {"a": None, "b": [1, None], "c": {"d": None}}}, {"arguments": {"b": [1], "c": {}}}),
        ({"_meta": {"progressToken": None}, "a": 0, "b": "", "c": False}, {"_meta": {"progressToken": None}, "a": 0, "b": "", "c": False}),
        ({"inputResponses": {"r": {"roots": [5]}}}, {"inputResponses": {"r": {"roots": [], "_meta": {"cm-tui/ignored": ["5"]}}}}),
    ],
)  # fmt: skip
async def test_nulls_and_odd_roots_of_any_request_are_dropped(given_: object, handled: object):
    seen: list[Any] = []

    async def handle(ctx: Any) -> None:
        seen.append(ctx.params)

    context = ServerRequestContext(
        session=None, lifespan_context=None, protocol_version="", method="prompts/get", params=given_
    )
    await lenient_params(context, handle)
    assert seen == [handled]


async def test_a_mistyped_tool_is_named_and_a_long_one_is_cut(shop: Path):
    async with answering(shop) as asked:
        with pytest.raises(MCPError, match=r"Did you mean codememory_retrieve\?"):
            await asked.client.call_tool("codememory_retreive", {})
        with pytest.raises(MCPError) as caught:
            await asked.client.call_tool("x" * 100_000, {})
        assert len(str(caught.value)) < 300


async def test_an_unknown_tool_is_a_protocol_error(shop: Path):
    async with answering(shop, tools="core") as asked:
        for name in ("no_such_tool", "memory_get"):
            with pytest.raises(MCPError, match="Unknown tool") as caught:
                await asked.client.call_tool(name, {})
            assert ("--tools memory_get" in str(caught.value)) == (name == "memory_get"), "it is in another set"


# --- anything at all ---


@pytest.fixture
def call(shop: Path) -> Iterator[Callable[..., CallToolResult]]:
    """Calls a tool of one server from a test that is not asynchronous."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(answering(shop)) as asked:
        yield lambda name, arguments: portal.call(lambda: asked.call(name, **arguments))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=5,
)
WORDS = st.text(max_size=30) | st.sampled_from(["Cart", "shop/cart.py", "..", "a.b::c#d", "%_\\", "*", "' OR 1=1 --"])
ARGUMENTS = ("query", "question", "symbol", "path", "target", "since")


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_arguments_make_it_crash(call: Callable[..., CallToolResult], data: st.DataObject):
    kind = data.draw(st.sampled_from([kind for kind in TOOLS if kind.reads]))
    properties = kind.tool().parameters["properties"]
    arguments = {name: data.draw(WORDS) for name in properties if name in ARGUMENTS}
    names = st.sampled_from(sorted(properties)) | st.text(max_size=9)
    arguments |= data.draw(st.dictionaries(names, VALUES, max_size=2))
    text = call(kind.name, arguments).content[0].text
    assert text
    assert "Error executing" not in text, (kind.name, arguments)
