"""The modes in the order of their keys: a mode is a line here and a folder of its name in `modes`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.screen import Screen


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
    ModeInfo("symbols", "Symbols", "Browse symbols, callers and callees"),
    ModeInfo("history", "History", "Changes, lives of symbols, drift"),
    ModeInfo("episodes", "Episodes", "What agents and users did, as stories"),
    ModeInfo("memory", "Memory", "Entries and notes"),
    ModeInfo("review", "Review", "Everything that waits for your decision"),
    ModeInfo("context", "Context", "What agents receive, and the pack"),
    ModeInfo("health", "Health", "Daemon, jobs, freshness and checks"),
)
PACK = ModeInfo("pack", "Pack", "Collect context for a chat")
"""The other page of Context."""

TITLES = {mode.name: mode.title for mode in (*MODES, PACK)}
"""Titles of all pages, by name."""


def keys_of_mode(number: int) -> str:
    """Return the keys of the mode at a place of the list, from 1: its digit and its function key."""
    return f"{number},f{number}"


def mode_of(page: str) -> str:
    """Return the mode that a page belongs to."""
    return "context" if page == PACK.name else page


def screens() -> dict[str, str | Callable[[], Screen[Any]]]:
    """What makes each mode's screen, imported when it is first shown."""
    return {name: _maker(name) for name in TITLES}


def _maker(name: str) -> Callable[[], Screen[None]]:
    def make() -> Screen[None]:
        module = importlib.import_module(f"cm_tui.tui.modes.{name}.screen")
        screen: Screen[None] = getattr(module, f"{name.title()}Screen")()
        return screen

    return make
