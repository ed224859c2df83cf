"""The agents' environment variables that locate their transcripts."""

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
"""Places to search if transcripts are not in their usual place."""
