"""The cost of each set of MCP tools to an agent that has not asked anything yet."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from typing import Any

from cm_tui.engine.context.budget import tokens
from cm_tui.mcp import SETS, choose
from cm_tui.mcp.server import INSTRUCTIONS
from cm_tui.mcp.tools import ToolSpec


def main(argv: Sequence[str]) -> int:
    """Print a table, or JSON.

    Args:
        argv: see `--help`.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="cm bench mcp_tools", description=__doc__)
    parser.add_argument("--each", action="store_true", help="A row for each tool too.")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)
    rows = [measured(name, choose([name])) for name in SETS]
    if options.each:
        rows += [measured(kind.name, [kind]) for kind in choose(["all"])]
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print("| set | tools | a model reads, characters | ÷ 4 | estimated tokens | on the wire, characters |")
    print("|---|---:|---:|---:|---:|---:|")
    for row in rows:
        print("| {name} | {tools} | {read:,} | {quarter:,} | {tokens:,} | {wire:,} |".format(**row))
    print(f"\nInstructions of the server: {len(INSTRUCTIONS)} characters, {tokens(INSTRUCTIONS)} estimated tokens.")
    return 0


def measured(name: str, kinds: Iterable[ToolSpec]) -> dict[str, Any]:
    """The cost of some tools: what clients put before a model, and the whole list with annotations and output schemas."""
    tools = [kind.tool() for kind in kinds]
    read = _compact(
        [{"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools]
    )
    wire = _compact(
        [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "inputSchema": tool.parameters,
                "outputSchema": tool.output_schema,
                "annotations": tool.annotations and tool.annotations.model_dump(by_alias=True, exclude_none=True),
            }
            for tool in tools
        ]
    )
    return {
        "name": name,
        "tools": len(tools),
        "read": len(read),
        "quarter": round(len(read) / 4),
        "tokens": tokens(read),
        "wire": len(wire),
    }


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
