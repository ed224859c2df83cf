"""The variables by which agents are told where they keep their transcripts."""

from __future__ import annotations

VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_DATA_HOME",
    "OPENCODE_DB",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "CURSOR_DATA_DIR",
)
"""Looked at where transcripts do not lie in their usual place."""
