"""What a client is told of the tools: sets, annotations and schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cm_tui.errors import UsageError
from cm_tui.mcp.tools import SETS, TOOLS, choose
from tests.mcp.served import answering

READERS = {kind.name for kind in TOOLS if kind.reads}


@pytest.mark.parametrize("words", ["all", "core,graph", "codememory_drift"])
async def test_only_the_tools_of_the_set_are_listed(shop: Path, words: str):
    async with answering(shop, tools=words) as asked:
        listed = [tool.name for tool in (await asked.client.list_tools()).tools]
    assert listed == [kind.name for kind in choose(words.split(","))]
    assert listed


def test_the_sets_hold_what_their_names_say():
    names = {name: {kind.name for kind in choose([name])} for name in SETS}
    assert names["all"] == {kind.name for kind in TOOLS}
    assert {"codememory_retrieve", "codememory_ingest", "codememory_reingest"} <= names["core"]
    graph = {
        f"codememory_{what}"
        for what in ("callers", "callees", "definitions", "dependencies", "importers", "assembly_members")
    }
    assert names["graph"] == graph
    assert names["temporal"] == {"codememory_drift", "codememory_at_sha", "codememory_callers_at_sha"}
    assert names["memory"] == {
        "recall", "remember", "forget", "codememory_record", "manage_core_memory", "memory_search", "memory_get",
        "codememory_proposals", "codememory_propose", "working_memory",
    }  # fmt: skip
    assert {"recall", "remember"} <= names["core"]
    with pytest.raises(UsageError, match="nope"):
        choose(["core", "nope"])
    with pytest.raises(UsageError, match="No tools"):
        choose([])


async def test_annotations_say_what_a_tool_does_and_schemas_are_valid_lean_and_bounded(shop: Path):
    async with answering(shop) as asked:
        tools = (await asked.client.list_tools()).tools
    for tool in tools:
        hints = tool.annotations
        assert hints.read_only_hint is (tool.name in READERS)
        assert hints.destructive_hint is False
        assert hints.idempotent_hint is True
        assert hints.open_world_hint is False
        assert tool.title
        assert tool.description
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert '"title": "' not in json.dumps(schema)
        assert tool.input_schema["additionalProperties"] is False
        assert "project" in tool.input_schema["properties"]
        assert "project" not in tool.input_schema.get("required", [])
        for name, argument in tool.input_schema["properties"].items():
            choices = argument.get("anyOf", [argument])
            for choice in choices:
                assert choice["type"] in ("boolean", "string", "integer", "number", "array"), name
                if choice["type"] in ("integer", "number"):
                    assert {"minimum", "maximum"} <= choice.keys() or name == "from", name
                if choice["type"] == "string":
                    assert "maxLength" in choice or "enum" in choice, name


async def test_the_default_list_costs_few_tokens(shop: Path):
    async with answering(shop, tools="core") as asked:
        listed = await asked.client.list_tools()
    seen_by_a_model = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in listed.tools
    ]
    assert len(json.dumps(seen_by_a_model, ensure_ascii=False)) / 4 < 2000
