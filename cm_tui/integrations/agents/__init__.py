"""Coding agents that can be wired to the memory, each in its own configuration format."""

from __future__ import annotations

from cm_tui.errors import UsageError
from cm_tui.integrations.agents.agent_files import Agent
from cm_tui.integrations.agents.known import CLAUDE_CODE, CODEX, CURSOR, OPENCODE

AGENTS: dict[str, Agent] = {agent.name: agent for agent in (CLAUDE_CODE, OPENCODE, CURSOR, CODEX)}


def named(name: str) -> Agent:
    """The agent of a name. Raises UsageError if none is called so."""
    if name not in AGENTS:
        raise UsageError(f"Unknown agent: {name!r}.", hint=f"Use one of {', '.join(AGENTS)}.")
    return AGENTS[name]
