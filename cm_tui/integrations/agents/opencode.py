"""OpenCode: `opencode.json` and a plugin file, in the project or in `~/.config/opencode`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part, folder_from, whole_file
from cm_tui.integrations.agents.json_parts import json_server

MARKER = "cm-tui: written by `cm agent install`, removed by `cm agent uninstall`"


def parts(target: InstallTarget) -> Sequence[Part]:
    """The files of OpenCode; `XDG_CONFIG_HOME` moves the user's."""
    if target.scope == "project":
        config, plugins = _config(target.root), target.root / ".opencode" / "plugins"
    else:
        folder = folder_from("XDG_CONFIG_HOME", target.home / ".config") / "opencode"
        config, plugins = _config(folder), folder / "plugins"
    lone = {"$schema": "https://opencode.ai/config.json"}
    return (
        json_server(config, "mcp", target, form=_entry, first={"enabled": True}, lone=lone),
        whole_file("hooks", plugins / "cm-tui.js", _plugin(target.command), MARKER),
    )


def _entry(words: Sequence[str]) -> dict[str, Any]:
    return {"type": "local", "command": list(words)}


def _config(folder: Path) -> Path:
    """The configuration that is there; it may be called `.jsonc`."""
    with_comments = folder / "opencode.jsonc"
    plain = folder / "opencode.json"
    return with_comments if with_comments.exists() and not plain.exists() else plain


def _plugin(command: Sequence[str]) -> str:
    text = (files(__package__) / "opencode_plugin.js").read_text(encoding="utf-8")
    return f"// {MARKER}\n" + text.replace('["cm"]', json.dumps(list(command)), 1)


AGENT = Agent(
    "opencode",
    "OpenCode",
    parts,
    ("Restart OpenCode: it reads plugins when it starts.",),
    resume=("opencode", "--session"),
)
