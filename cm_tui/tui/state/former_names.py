"""Names of earlier releases that users still have in their files: modes in the remembered state, commands in `tui.keys`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")

MODES = {"time": "history", "narrator": "review"}
"""Modes that were called otherwise, by their former name."""


def current_mode(mode: str) -> str:
    """Return what a mode is called today."""
    return MODES.get(mode, mode)


def current_sections(sections: Mapping[str, V]) -> dict[str, V]:
    """Return what was kept for each mode, by the mode's name of today; where both names are there, today's wins."""
    return _renamed(sections, {name: current_mode(name) for name in sections})


def current_keys(keys: Mapping[str, str]) -> dict[str, str]:
    """Return keys by the id that their command has today; where both ids are there, today's wins."""
    return _renamed(keys, {name: _current_command(name) for name in keys})


def former_keys(keys: Mapping[str, str]) -> str:
    """Return what is to be said of ids that go by a former name; nothing when none does."""
    found = [f"{name} is called {_current_command(name)} now" for name in keys if _current_command(name) != name]
    return f"tui.keys: {', '.join(found)}; the old names still work." if found else ""


def _current_command(command: str) -> str:
    """`time.go` is `history.go` today, and `app.time` is `app.history`."""
    room, dot, name = command.partition(".")
    return f"app{dot}{current_mode(name)}" if room == "app" else f"{current_mode(room)}{dot}{name}"


def _renamed(values: Mapping[str, V], names: Mapping[str, str]) -> dict[str, V]:
    return {names[name]: value for name, value in values.items() if names[name] == name or names[name] not in values}
