"""Where agents keep their transcripts, by their own variables, which a front end passes to the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cm_tui.paths import AGENT_VARIABLES

CLEANUP_SETTING = "cleanupPeriodDays"
"""The setting of Claude Code that names the days after which it deletes transcripts."""


def claude_homes(variables: Mapping[str, str]) -> list[Path]:
    """Return the possible folders of Claude Code for settings and transcripts."""
    from cm_tui.engine.memory.transcripts.claude_code import ClaudeCode

    return [place.parent for place in ClaudeCode(variables).places]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a process that locate agents' transcripts."""
    return {name: variables[name] for name in AGENT_VARIABLES if variables.get(name)}
