"""The settings that a hook obeys, read without the library that checks all of them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.files import read_bounded, read_inside
from cm_tui.toml_values import SETTINGS_BYTES, toml_values

MOST_BUDGET = 20_000
MOST_SECONDS = 10.0
MOST_TOKENS = 100_000_000
"""The ranges of the configuration, `AgentsConfig`; what is beyond is taken as its end."""


class HookSettings(NamedTuple):
    """`[agents]` as far as a hook needs it; the defaults are those of the configuration."""

    record: bool = True
    budget: int = 2_000
    wait_seconds: float = 1.5
    start_budget: int = 2_000
    flush: bool = True
    remind: bool = True
    window: int = 200_000
    reserve_tokens: int = 20_000
    soft_tokens: int = 4_000


def read(root: Path) -> HookSettings:
    """Return the settings for a project.

    Values that make no sense are left to the daemon and to every other command, which tell of them.
    """
    user = _section(lambda: read_bounded(paths.config_file(), SETTINGS_BYTES))
    name = paths.project_config_file(Path()).as_posix()
    theirs = _section(lambda: read_inside(root, name, SETTINGS_BYTES))
    environment = {
        key.removeprefix("CM_AGENTS__").lower(): value
        for key, value in os.environ.items()
        if key.startswith("CM_AGENTS__")
    }
    # A repository may ask for less to be recorded, and the person's own word stands above its own.
    record = next((one["record"] for one in (environment, user, theirs) if "record" in one), None)
    default = HookSettings()

    def least(name: str, default: float, most: float) -> float:
        """The environment's number; without one the repository's, which may only lower what the user's file says."""
        first = _number(environment.get(name), most)
        return first if first is not None else _smaller(user.get(name), theirs.get(name), default, most)

    def own(name: str, default: int) -> int:
        """The person's own number, which a repository has no part in."""
        found = (_number(one.get(name), MOST_TOKENS) for one in (environment, user))
        return int(next((number for number in found if number is not None), default))

    def allowed(name: str) -> bool:
        """The environment's word; without one a repository may only forbid what the user's file allows."""
        told = environment.get(name)
        return _flag(told, True) if told is not None else all(_flag(one.get(name), True) for one in (user, theirs))

    return HookSettings(
        record=_flag(record, default.record),
        budget=int(least("budget", default.budget, MOST_BUDGET)),
        wait_seconds=least("wait_seconds", default.wait_seconds, MOST_SECONDS),
        start_budget=int(least("start_budget", default.start_budget, MOST_BUDGET)),
        flush=allowed("flush"),
        remind=allowed("remind"),
        window=own("window", default.window),
        reserve_tokens=own("reserve_tokens", default.reserve_tokens),
        soft_tokens=own("soft_tokens", default.soft_tokens),
    )


def _section(content: Callable[[], bytes]) -> dict[str, Any]:
    """`[agents]` of a file; where that cannot be understood, no more than that it may forbid recording."""
    data = b""
    try:
        data = content()
        section = toml_values(data).get("agents") if b"agents" in data else None
    except (OSError, ValueError):
        return {"record": False} if b"record" in data else {}
    return section if isinstance(section, dict) else {}


def _flag(value: Any, default: bool) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in {"false", "f", "0", "no", "n", "off"}
    return bool(value) if isinstance(value, int | float) else default


def _smaller(own: Any, theirs: Any, default: float, most: float) -> float:
    """The repository's number, which may only lower what the person set."""
    found = [number for number in (_number(own, most), _number(theirs, most)) if number is not None]
    return min(found, default=default)


def _number(value: Any, most: float) -> float | None:
    """Return a number within the configuration's limits, or None."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(0.0, number), most) if math.isfinite(number) else None
