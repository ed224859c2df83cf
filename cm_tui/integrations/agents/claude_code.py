"""Claude Code: `.mcp.json` and `.claude/settings.json`; `~/.claude.json` and `~/.claude/settings.json` for the user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part, split
from cm_tui.integrations.agents.json_parts import HookEntry, grouped_hooks, json_server

HOOKS = (
    HookEntry("SessionStart", "session-start"),
    HookEntry("SessionEnd", "session-end"),
    HookEntry("UserPromptSubmit", "prompt"),
    HookEntry("PostToolUse", "edit", "Edit|MultiEdit|Write|NotebookEdit"),
    HookEntry("Stop", "stop"),
)


def parts(target: InstallTarget) -> Sequence[Part]:
    """The files of Claude Code; `CLAUDE_CONFIG_DIR` moves the user's."""
    moved = os.environ.get("CLAUDE_CONFIG_DIR")
    folder = Path(moved).expanduser() if moved else None
    if target.scope == "project":
        servers, settings = target.root / ".mcp.json", target.root / ".claude" / "settings.json"
    else:
        servers = (folder or target.home) / ".claude.json"
        settings = (folder or target.home / ".claude") / "settings.json"
    return (
        json_server(servers, "mcpServers", target, form=lambda words: {"type": "stdio", **split(words)}),
        grouped_hooks(settings, target, AGENT.name, HOOKS),
    )


AGENT = Agent(
    "claude-code",
    "Claude Code",
    parts,
    ("Start a new session: Claude Code asks once whether it may use a project's MCP server.",),
    resume=("claude", "--resume"),
)
