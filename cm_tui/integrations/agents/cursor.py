"""Cursor: `mcp.json` and `hooks.json` in a project's `.cursor`, or in `~/.cursor`."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part
from cm_tui.integrations.agents.json_parts import HookEntry, flat_hooks, json_server

HOOKS = (
    HookEntry("sessionStart", "session-start"),
    HookEntry("beforeSubmitPrompt", "prompt"),
    HookEntry("afterFileEdit", "edit"),
    HookEntry("stop", "stop"),
)


def parts(target: InstallTarget) -> Sequence[Part]:
    """The files of Cursor."""
    folder = (target.root if target.scope == "project" else target.home) / ".cursor"
    return (
        json_server(folder / "mcp.json", "mcpServers", target),
        flat_hooks(folder / "hooks.json", target, AGENT.name, HOOKS, {"version": 1}),
    )


AGENT = Agent(
    "cursor",
    "Cursor",
    parts,
    (
        "Open a new chat. Cursor's documentation does not promise that a hook may add to a prompt; version 3.20 is reported to take it.",
        "Cursor also runs the hooks in Claude Code's settings: wire one of the two for a project, not both.",
    ),
    resume=("cursor-agent", "--resume"),
)
