"""The agents' environment variables that locate their transcripts."""

from __future__ import annotations

from cm_tui.paths import AGENT_FOLDERS

VARIABLES = (*AGENT_FOLDERS, "XDG_DATA_HOME", "OPENCODE_DB")
"""Places to search if transcripts are not in their usual place."""
