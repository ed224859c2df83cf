"""The modes there are, in the order of their keys: a mode is a line here and a folder of its name in `modes`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModeInfo:
    """A mode; its screen is the class `<Name>Screen` in `modes/<name>/screen.py`."""

    name: str
    title: str
    help: str
    """What it is for, in a few words."""


MODES = (
    ModeInfo("overview", "Overview", "The project and its index"),
    ModeInfo("search", "Search", "Ask the code"),
    ModeInfo("symbols", "Symbols", "Browse symbols and who calls whom"),
    ModeInfo("pack", "Pack", "Collect context and take it away"),
    ModeInfo("health", "Health", "Daemon, jobs, freshness, and checks"),
    ModeInfo("history", "History", "What changed, lives of symbols, drift"),
    ModeInfo("episodes", "Episodes", "What agents and people did, as stories"),
)

TITLES = {mode.name: mode.title for mode in MODES}
"""What each mode is called."""
