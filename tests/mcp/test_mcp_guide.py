"""The guide to MCP tells of the tools that there are, with their sets, arguments and costs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cm_tui.engine.context.packs.budget import tokens
from cm_tui.mcp.tools import SETS, TOOLS, choose

GUIDE = (Path(__file__).parents[2] / "cm_tui/docs/mcp.md").read_text()


def test_every_tool_has_its_row_with_sets_and_arguments():
    rows = {row[0]: row[1:] for row in re.findall(r"^\| `(\w+)` \| ([\w, ]+) \| (.*?) \|", GUIDE, re.MULTILINE)}
    assert rows.keys() == {kind.name for kind in TOOLS}
    for kind in TOOLS:
        sets, arguments = rows[kind.name]
        assert set(sets.split(", ")) == kind.sets
        required, _, optional = arguments.partition("[")
        schema = kind.tool().parameters
        needed = set(schema.get("required", []))
        assert set(re.findall(r"`(\w+)`", required)) == needed
        assert set(re.findall(r"`(\w+)`", optional)) == schema["properties"].keys() - needed - {"project"}


def test_the_costs_are_those_of_today():
    rows = {
        row[0]: row[1:]
        for row in re.findall(r"^\| (\w+) \| (\d+) \| [\d,]+ \| [\d,]+ \| ([\d,]+) \|", GUIDE, re.MULTILINE)
    }
    assert rows.keys() == set(SETS)
    for name, (tools, said) in rows.items():
        kinds = choose([name])
        read = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters}
            for t in (k.tool() for k in kinds)
        ]
        assert int(tools) == len(kinds)
        assert int(said.replace(",", "")) == pytest.approx(
            tokens(json.dumps(read, ensure_ascii=False, separators=(",", ":"))), rel=0.05
        )
