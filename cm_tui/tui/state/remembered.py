"""What the application remembers of a project between runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.api.secrets import redact_values
from cm_tui.files import write_atomically


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
        return AppState(), f"What was remembered from the last run could not be read and is ignored: {error}"


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
    return state
