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
    ModeInfo("memory", "Memory", "Entries, notes, and what becomes of them"),
)
_FUNCTION_KEYS = ("f1", "f2", "f3", "f4", "f5", "f6", "f7", "f11")
"""F8 and F9 pause recording and show what is trusted in every mode, and F10 opens the menu of many terminals."""

TITLES = {mode.name: mode.title for mode in MODES}
"""What each mode is called."""


def keys_of_mode(number: int) -> str:
    """Return the keys of the mode at a place of the list, from 1: its number, and a function key."""
    return f"{number},{_FUNCTION_KEYS[number - 1]}"
