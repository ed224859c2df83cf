"""The gate for recording: may a session's work be recorded?"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.engine.memory.recording import pauses
from cm_tui.errors import ConfigError
from cm_tui.files import read_bounded
from cm_tui.toml_values import SETTINGS_BYTES, toml_values

# --- folders that are never recorded: patterns of the user's own settings ---

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
                f"Nothing is recorded: {_VARIABLE} is not a list: {error}", hint='Write it as JSON: ["~/private"].'
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
            f"Nothing is recorded: {file} (folders that are never recorded) cannot be read: {error}",
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
        return "" if _parts(pattern) and "\0" not in pattern else f"memory.never_record: {pattern!r} is not a folder"
    return f"memory.never_record: {pattern!r} must begin with `/`, `~` or `**/`"


# --- the gate for recording ---

# Hooks of agents import this module: nothing here may take long to import.

NEVER = "this folder is never recorded"
SESSION = "this session is never recorded"
PAUSED = "recording is paused"


def why_not(root: Path, session: str = "", *, folder: str = "") -> str:
    """Return why a session may not be recorded now; empty: it may.

    `root`: of the checkout that the session works in. `folder`: where in the checkout it works; empty: at its root.
    Raises StoreError if it is unknown whether recording is paused; ConfigError if the list of folders that are never
    recorded cannot be read; RefusedError if git's data cannot be opened.
    """
    wanted = patterns()
    if wanted and (is_below(root, wanted) or (folder and is_below(folder, wanted))):
        return NEVER
    kept = pauses.read()
    if session and session in kept.sessions:
        return SESSION
    return PAUSED if kept.on(root, time.time()) else ""


class PastGate:
    """The same for earlier turns, for imports of many turns: the files are read once.

    `root`: of the checkout that turns are imported for; None: unknown, and any pause counts. Raises StoreError if it is
    unknown when recording was paused; ConfigError if the list of folders that are never recorded cannot be read;
    RefusedError if git's data cannot be opened.
    """

    def __init__(self, root: Path | None) -> None:
        self.never = self._patterns = patterns()
        """Patterns of folders that are never recorded."""
        self._is_never = root is not None and is_below(root, self._patterns)
        kept = pauses.read(past=True)
        self._sessions = frozenset(kept.sessions)
        projects = kept.projects(root) if root is not None else None
        self._pauses = [one for one in (*kept.pauses, *kept.past) if projects is None or one.project in projects]

    def why_not(self, session: str, times: Iterable[float | None], *, folder: str = "") -> str:
        """Return why a turn may not be recorded; empty: it may.

        `times`: its start and end, if known. `folder`: its working folder; empty: at the root.
        """
        if self._is_never or (self._patterns and folder and is_below(folder, self._patterns)):
            return NEVER
        if session in self._sessions:
            return SESSION
        known = [at for at in times if at is not None]
        if not self._pauses:
            return ""
        if not known:
            # It may have been in one of them.
            return PAUSED
        begin, end = min(known), max(known)
        # Also a turn that a pause lies inside of.
        inside = any(one.since <= end and (one.until is None or begin < one.until) for one in self._pauses)
        return PAUSED if inside else ""


def without_never_recorded(root: Path, files: Iterable[str]) -> list[str]:
    """Return the files of a checkout outside the folders that are never recorded.

    `files`: relative to it, with `/`. Raises ConfigError if the list of those folders cannot be read.
    """
    wanted = patterns()
    if not wanted:
        return list(files)
    return [name for name in files if not is_below(os.path.join(root, name), wanted)]  # noqa: PTH118
