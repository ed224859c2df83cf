"""Folders that are never recorded: patterns of the user's own settings."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.errors import ConfigError
from cm_tui.files import read_bounded
from cm_tui.toml_values import SETTINGS_BYTES, toml_values

# Hooks of agents import this module: nothing here may take long to import.

_VARIABLE = "CM_MEMORY__NEVER_RECORD"


def patterns() -> tuple[str, ...]:
    """Return the patterns of `memory.never_record`: those of the environment, else of the user's file.

    Parsed here, as loading the whole configuration would take too long for a hook. An invalid value stops recording, as
    it may have been meant to. Raises ConfigError if the settings cannot be read.
    """
    said = os.environ.get(_VARIABLE)
    if said is not None:
        try:
            return _checked(json.loads(said) if said.strip() else [])
        except (ValueError, RecursionError) as error:
            raise ConfigError(
                f"Nothing is recorded: {_VARIABLE} is no list: {error}", hint='Write it as JSON: ["~/private"].'
            ) from error
    file = paths.config_file()
    try:
        content = read_bounded(file, SETTINGS_BYTES)
        if b"never_record" not in content:
            return ()
        section = toml_values(content).get("memory")
        return _checked(section.get("never_record", []) if isinstance(section, dict) else [])
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"Nothing is recorded: {file} names folders that never are, and cannot be read: {error}",
            hint="Fix the file.",
        ) from error


def is_below(folder: str | Path, wanted: Sequence[str]) -> bool:
    """Return whether a folder or file is in a folder that patterns name, by its name or with links resolved.

    `folder`: an absolute path. `wanted`: patterns such as `~/private`, `/work/client-*`, `**/secret`; `*` stands for
    any name or a part of one, `**` for any folders in between.
    """
    if not wanted:
        return False
    places = {os.path.normpath(folder), os.path.realpath(folder)}
    return any(_matches(_parts(pattern), _parts(place)) for pattern in wanted for place in places)


def _parts(path: str) -> list[str]:
    text = os.path.expanduser(path).replace("\\", "/") if os.name == "nt" else os.path.expanduser(path)  # noqa: PTH111
    return [part for part in text.split("/") if part not in {"", "."}]


def _matches(pattern: list[str], place: list[str]) -> bool:
    """Whether a pattern matches a path or a folder above it; by rows, so that no pattern takes long."""
    reached = {0}
    for part in [*place, None]:
        # Any number of folders may follow `**`, including none.
        for at in sorted(reached):
            step = at
            while step < len(pattern) and pattern[step] == "**":
                step += 1
                reached.add(step)
        if len(pattern) in reached:
            return True
        if part is None:
            return False
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(part, pattern[at]))
        }
    return False


def _checked(found: Any) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("memory.never_record is a list of folders")
    for one in found:
        if wrong := mistake(one):
            raise ValueError(wrong)
    return tuple(found)


def mistake(pattern: str) -> str:
    """Return what is wrong with a pattern; empty: valid."""
    if pattern.startswith(("/", "~", "**/")) or (os.name == "nt" and os.path.isabs(pattern)):  # noqa: PTH117
        return "" if _parts(pattern) and "\0" not in pattern else f"memory.never_record: {pattern!r} names no folder"
    return f"memory.never_record: {pattern!r} must begin with `/`, `~` or `**/`"
