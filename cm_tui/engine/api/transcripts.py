"""Where agents keep their transcripts, as their own variables say it: what a front end passes on to the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cm_tui.engine.transcripts.variables import VARIABLES

CLEANUP_SETTING = "cleanupPeriodDays"
"""The setting of Claude Code that names the days after which it deletes transcripts."""


def claude_homes(variables: Mapping[str, str]) -> list[Path]:
    """Return the folders in which Claude Code may keep settings and transcripts."""
    from cm_tui.engine.transcripts.claude_code import ClaudeCode

    return [place.parent for place in ClaudeCode(variables).places]


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return of a process's variables those that say where agents keep their transcripts."""
    return {name: variables[name] for name in VARIABLES if variables.get(name)}
