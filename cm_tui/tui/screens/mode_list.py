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
    ModeInfo("narrator", "Narrator", "What sessions teach, for you to decide"),
    ModeInfo("context", "Context", "What agents are handed over, and why"),
)
_FUNCTION_KEYS = ("f1", "f2", "f3", "f4", "f5", "f6", "f7", "f11", "f13,shift+f1", "f14,shift+f2")
"""F8, F9 and F12 pause recording, show what is trusted, and help in every mode, and F10 opens the menu of many terminals.
What is left is Shift+F1 and Shift+F2, which most terminals send as F13 and F14."""

_NUMBERS = 9

TITLES = {mode.name: mode.title for mode in MODES}
"""What each mode is called."""


def keys_of_mode(number: int) -> str:
    """Return the keys of the mode at a place of the list, from 1: its sign, and a function key."""
    return f"{sign_of_mode(number)},{_FUNCTION_KEYS[number - 1]}"


def sign_of_mode(number: int) -> str:
    """Return the key of a mode as the top line has it: its number, of the tenth a letter, as 0 leads back to now."""
    return str(number) if number <= _NUMBERS else MODES[number - 1].title[0]
