"""What the application remembers of a project between runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from cm_tui import paths
from cm_tui.engine.api.secrets import redact_values
from cm_tui.files import write_atomically

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
    found = [f"{name} is now {_current_command(name)}" for name in keys if _current_command(name) != name]
    return f"tui.keys: {', '.join(found)}; the old names still work." if found else ""


def _current_command(command: str) -> str:
    """`time.go` is `history.go` today, and `app.time` is `app.history`."""
    room, dot, name = command.partition(".")
    return f"app{dot}{current_mode(name)}" if room == "app" else f"{current_mode(room)}{dot}{name}"


def _renamed(values: Mapping[str, V], names: Mapping[str, str]) -> dict[str, V]:
    return {names[name]: value for name, value in values.items() if names[name] == name or names[name] not in values}


@dataclass
class AppState:
    """Remembered choices; `screens` holds whatever each mode wants to find again, by mode."""

    mode: str = "overview"
    theme: str | None = None
    """Chosen in the application; None: that of the settings."""
    theme_over: str | None = None
    """What the settings said when it was chosen: once they say something else, they count."""
    screens: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of(self, mode: str) -> dict[str, Any]:
        """The part that belongs to one mode; changes to it are kept."""
        return self.screens.setdefault(mode, {})


def state_file(root: Path) -> Path:
    """Where the state of a project is kept."""
    return paths.choices_file(root)


def load_state(root: Path) -> tuple[AppState, str]:
    """Read the state of a project.

    Returns:
        The state, and a note for the user when the file could not be used (then the state is fresh).
    """
    file = state_file(root)
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
        return _checked(values), ""
    except FileNotFoundError:
        return AppState(), ""
    except (OSError, ValueError, TypeError) as error:
        return AppState(), f"The state of the last run could not be read and is ignored: {error}"


def save_state(root: Path, state: AppState) -> None:
    """Write the state of a project: a temporary file that takes the old one's place; secrets do not come into it.

    Raises:
        OSError: when the folder cannot be written.
    """
    file = state_file(root)
    paths.private_dir(file.parent)
    write_atomically(file, json.dumps(redact_values(asdict(state)), ensure_ascii=False, indent=1))


def _checked(values: Any) -> AppState:
    if not isinstance(values, dict):
        raise TypeError("not an object")
    known = {item.name for item in fields(AppState)}
    state = AppState(**{name: value for name, value in values.items() if name in known})
    right_screens = isinstance(state.screens, dict) and all(isinstance(v, dict) for v in state.screens.values())
    if (
        not isinstance(state.mode, str)
        or not isinstance(state.theme, str | None)
        or not isinstance(state.theme_over, str | None)
        or not right_screens
    ):
        raise TypeError("a value has the wrong type")
    state.mode, state.screens = current_mode(state.mode), current_sections(state.screens)
    return state
