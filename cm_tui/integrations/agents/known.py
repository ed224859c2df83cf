"""The coding agents: which files each has, in the project and for the user, and what it needs afterwards."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part, folder_from, split, whole_file
from cm_tui.integrations.agents.json_parts import HookEntry, flat_hooks, grouped_hooks, json_server
from cm_tui.integrations.agents.toml_edit import toml_server

_CLAUDE_CODE_HOOKS = (
    HookEntry("SessionStart", "session-start"),
    HookEntry("SessionEnd", "session-end"),
    HookEntry("UserPromptSubmit", "prompt"),
    HookEntry("PreToolUse", "action", "Edit|MultiEdit|Write|NotebookEdit|Bash"),
    HookEntry("PostToolUse", "edit", "Edit|MultiEdit|Write|NotebookEdit"),
    HookEntry("Stop", "stop"),
)


def _claude_parts(target: InstallTarget) -> Sequence[Part]:
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
        grouped_hooks(settings, target, CLAUDE_CODE.name, _CLAUDE_CODE_HOOKS),
    )


CLAUDE_CODE = Agent(
    "claude-code",
    "Claude Code",
    _claude_parts,
    ("Start a new session: Claude Code asks once whether it may use a project's MCP server.",),
    resume=("claude", "--resume"),
)


_PLUGIN_MARKER = "cm-tui: written by `cm agent install`, removed by `cm agent uninstall`"


def _opencode_parts(target: InstallTarget) -> Sequence[Part]:
    """The files of OpenCode; `XDG_CONFIG_HOME` moves the user's."""
    if target.scope == "project":
        config, plugins = _opencode_config(target.root), target.root / ".opencode" / "plugins"
    else:
        folder = folder_from("XDG_CONFIG_HOME", target.home / ".config") / "opencode"
        config, plugins = _opencode_config(folder), folder / "plugins"
    lone = {"$schema": "https://opencode.ai/config.json"}
    return (
        json_server(config, "mcp", target, form=_opencode_entry, first={"enabled": True}, lone=lone),
        whole_file("hooks", plugins / "cm-tui.js", _opencode_plugin(target.command), _PLUGIN_MARKER),
    )


def _opencode_entry(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(words)}


def _opencode_config(folder: Path) -> Path:
    """The configuration that is there; it may be called `.jsonc`."""
    with_comments = folder / "opencode.jsonc"
    plain = folder / "opencode.json"
    return with_comments if with_comments.exists() and not plain.exists() else plain


def _opencode_plugin(command: Sequence[str]) -> str:
    text = (files(__package__) / "opencode_plugin.js").read_text(encoding="utf-8")
    return f"// {_PLUGIN_MARKER}\n" + text.replace('["cm"]', json.dumps(list(command)), 1)


OPENCODE = Agent(
    "opencode",
    "OpenCode",
    _opencode_parts,
    ("Restart OpenCode: it reads plugins when it starts.",),
    resume=("opencode", "--session"),
)


_CURSOR_HOOKS = (
    HookEntry("sessionStart", "session-start"),
    HookEntry("beforeSubmitPrompt", "prompt"),
    HookEntry("afterFileEdit", "edit"),
    HookEntry("stop", "stop"),
)


def _cursor_parts(target: InstallTarget) -> Sequence[Part]:
    """The files of Cursor."""
    folder = (target.root if target.scope == "project" else target.home) / ".cursor"
    return (
        json_server(folder / "mcp.json", "mcpServers", target),
        flat_hooks(folder / "hooks.json", target, CURSOR.name, _CURSOR_HOOKS, {"version": 1}),
    )


CURSOR = Agent(
    "cursor",
    "Cursor",
    _cursor_parts,
    (
        "Open a new chat. Cursor's documentation does not promise that a hook may add to a prompt; version 3.20 is reported to take it.",
        "Cursor also runs the hooks in Claude Code's settings: connect one of the two for a project, not both.",
    ),
    resume=("cursor-agent", "--resume"),
)


_CODEX_HOOKS = (
    HookEntry("SessionStart", "session-start"),
    HookEntry("UserPromptSubmit", "prompt"),
    HookEntry("PostToolUse", "edit", "apply_patch|Edit|Write"),
    HookEntry("Stop", "stop"),
)


def _codex_parts(target: InstallTarget) -> Sequence[Part]:
    """The files of Codex; `CODEX_HOME` moves the user's."""
    folder = target.root / ".codex" if target.scope == "project" else folder_from("CODEX_HOME", target.home / ".codex")
    return (
        toml_server(folder / "config.toml", target),
        grouped_hooks(folder / "hooks.json", target, CODEX.name, _CODEX_HOOKS),
    )


CODEX = Agent(
    "codex",
    "Codex",
    _codex_parts,
    (
        "Codex runs a new hook only once you have trusted it: type /hooks in Codex.",
        "It reads a project's .codex folder only in a project that it trusts.",
    ),
    resume=("codex", "resume"),
)
