"""Coding agents that can be wired to the memory, each in its own configuration format."""

from __future__ import annotations

from cm_tui.errors import UsageError
from cm_tui.integrations.agents import claude_code, codex, cursor, opencode
from cm_tui.integrations.agents.agent_files import Agent

AGENTS: dict[str, Agent] = {
    agent.name: agent for agent in (claude_code.AGENT, opencode.AGENT, cursor.AGENT, codex.AGENT)
}


def named(name: str) -> Agent:
    """The agent of a name. Raises UsageError if none is called so."""
    if name not in AGENTS:
        raise UsageError(f"There is no agent {name!r}.", hint=f"Use one of {', '.join(AGENTS)}.")
    return AGENTS[name]
