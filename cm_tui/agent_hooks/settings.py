"""The settings that a hook obeys, read without the library that checks all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths


class HookSettings(NamedTuple):
    """`[agents]` as far as a hook needs it; the defaults are those of the configuration."""

    record: bool = True
    budget: int = 2_000
    wait_seconds: float = 1.5


def read(root: Path) -> HookSettings:
    """Return the settings for a project.

    Values that make no sense are left to the daemon and to every other command, which tell of them.
    """
    values: dict[str, Any] = {}
    for file in (paths.config_file(), paths.project_config_file(root)):
        values |= _section(file)
    for key, value in os.environ.items():
        if key.startswith("CM_AGENTS__"):
            values[key.removeprefix("CM_AGENTS__").lower()] = value
    default = HookSettings()
    return HookSettings(
        record=_flag(values.get("record"), default.record),
        budget=int(_number(values.get("budget"), default.budget)),
        wait_seconds=min(_number(values.get("wait_seconds"), default.wait_seconds), 10.0),
    )


def _section(file: Path) -> dict[str, Any]:
    try:
        content = file.read_bytes()
    except OSError:
        return {}
    if b"agents" not in content:
        return {}
    import tomllib

    try:
        section = tomllib.loads(content.decode("utf-8")).get("agents")
    except ValueError:
        return {}
    return section if isinstance(section, dict) else {}


def _flag(value: Any, default: bool) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in {"false", "0", "no", "off"}
    return value if isinstance(value, bool) else default


def _number(value: Any, default: float) -> float:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return default
