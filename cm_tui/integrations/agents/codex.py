"""Codex: `config.toml` and `hooks.json` in `~/.codex`, or in a project's `.codex` once the project is trusted."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.integrations.agents.agent_files import Agent, InstallTarget, Part, folder_from
from cm_tui.integrations.agents.json_parts import HookEntry, grouped_hooks
from cm_tui.integrations.agents.toml_edit import toml_server

HOOKS = (
    HookEntry("SessionStart", "session-start"),
    HookEntry("UserPromptSubmit", "prompt"),
    HookEntry("PostToolUse", "edit", "apply_patch|Edit|Write"),
    HookEntry("Stop", "stop"),
)


def parts(target: InstallTarget) -> Sequence[Part]:
    """The files of Codex; `CODEX_HOME` moves the user's."""
    folder = target.root / ".codex" if target.scope == "project" else folder_from("CODEX_HOME", target.home / ".codex")
    return (
        toml_server(folder / "config.toml", target),
        grouped_hooks(folder / "hooks.json", target, AGENT.name, HOOKS),
    )


AGENT = Agent(
    "codex",
    "Codex",
    parts,
    (
        "Codex runs a new hook only once you have trusted it: type /hooks in Codex.",
        "It reads a project's .codex folder only in a project that it trusts.",
    ),
    resume=("codex", "resume"),
)
