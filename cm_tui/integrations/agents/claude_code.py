"""Claude Code: `.mcp.json` and `.claude/settings.json`; `~/.claude.json` and `~/.claude/settings.json` for the user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part, split
from cm_tui.integrations.agents.json_parts import HookEntry, grouped_hooks, json_server

HOOKS = (
    HookEntry("SessionStart", "session-start"),
    HookEntry("UserPromptSubmit", "prompt"),
    HookEntry("PostToolUse", "edit", "Edit|MultiEdit|Write|NotebookEdit"),
    HookEntry("Stop", "stop"),
)


def parts(place: InstallTarget) -> Sequence[Part]:
    """The files of Claude Code; `CLAUDE_CONFIG_DIR` moves the user's."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(moved).expanduser() if moved else None
    if place.scope == "project":
        servers, settings = place.root / ".mcp.json", place.root / ".claude" / "settings.json"
    else:
        servers = (folder or place.home) / ".claude.json"
        settings = (folder or place.home / ".claude") / "settings.json"
    return (
        json_server(servers, "mcpServers", place, form=lambda words: {"type": "stdio", **split(words)}),
        grouped_hooks(settings, place, AGENT.name, HOOKS),
    )


AGENT = Agent(
    "claude-code",
    "Claude Code",
    parts,
    ("Start a new session: Claude Code asks once whether it may use a project's MCP server.",),
)
