"""Whether a session's work may be recorded: pauses, excluded sessions and folders."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import ConfigError, StoreError
from cm_tui.files import read_bounded, set_aside
from cm_tui.state_file import holding, reported, write_json
from cm_tui.toml_values import SETTINGS_BYTES, toml_values

# --- pauses of recording, and sessions that are never recorded, in a small file that every hook reads ---

# While the file is unreadable, it is unknown whether a pause is on: nothing is recorded, and that is reported.

# Hooks of agents import this module: nothing here may take long to import.

EVERYWHERE = ""
"""In the place of a project's name: all projects."""
_BYTES = 4_000_000
_PAST = 10_000
"""Pauses that are over and still known, so that a transcript of them is not imported; the oldest go first."""
_SESSIONS = 10_000


class Pause(NamedTuple):
    """A time in which nothing is recorded."""

    project: str
    """Name of the project's journal; `EVERYWHERE`: of all projects."""
    since: float
    until: float | None
    """When it ends, or ended; None: until resumed."""


class Pauses(NamedTuple):
    """All pauses, and sessions."""

    pauses: tuple[Pause, ...] = ()
    """Current ones, and expired ones that were not moved away yet."""
    sessions: tuple[str, ...] = ()
    """Ids of sessions that are never recorded."""
    past: tuple[Pause, ...] = ()
    """Ended ones; only on request."""

    def projects(self, root: Path | None) -> frozenset[str]:
        """Return the projects whose pauses hold for a checkout: all, its own, and any that may be its own.

        `root`: of the checkout; None: only `EVERYWHERE`. Raises RefusedError if git's data cannot be opened.
        """
        if root is None or not (self.pauses or self.past):
            return frozenset({EVERYWHERE})
        from cm_tui.engine.platform.git import checkout_links

        others = {one.project for one in (*self.pauses, *self.past)}
        return checkout_links.doubtful(root, others) | {EVERYWHERE, folder_of(root).name}

    def on(self, root: Path | None, now: float) -> Pause | None:
        """Return the longest pause that holds for a checkout; None: it is recorded.

        `root`: of the checkout; None: of all projects. Raises RefusedError if git's data cannot be opened.
        """
        projects = self.projects(root)
        # Not only since its start: a clock that was set back does not end a pause.
        found = [one for one in self.pauses if one.project in projects and (one.until is None or now < one.until)]
        return max(found, key=lambda one: math.inf if one.until is None else one.until, default=None)


def folder() -> Path:
    """Return the folder of the data on pauses; not created here."""
    return paths.data_dir() / "recording"


def file() -> Path:
    """Return the file of pauses and sessions; it may not be there."""
    return folder() / "paused.json"


def read(*, past: bool = False) -> Pauses:
    """Return the data on pauses. `past`: include ended pauses. Raises StoreError if it cannot be read."""
    kept = _json(file())
    over = _json(_past_file()) if past else {}
    try:
        return Pauses(
            tuple(_pause(one) for one in kept.get("pauses", ())),
            tuple(kept.get("sessions", ())),
            tuple(_pause(one) for one in over.get("pauses", ())),
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _damaged(file(), str(error)) from error


def begin(project: str, until: float | None, *, now: float | None = None) -> Pause:
    """Begin a pause, or change the end of a current one; return it.

    `project`: name of the project's journal, or `EVERYWHERE`. `until`: when it ends; None: until resumed. `now`:
    seconds since the epoch. Raises StoreError if it cannot be written.
    """
    now = time.time() if now is None else now
    with _changing(now) as kept:
        before = next((one for one in kept.pauses if one.project == project), None)
        pause = Pause(project, min(before.since, now) if before else now, until)
        _write(kept._replace(pauses=(*(one for one in kept.pauses if one.project != project), pause)))
    return pause


def end(project: str, *, now: float | None = None) -> Pause | None:
    """End the pause of a project, or the one of all; return it, None: there was no pause.

    Raises StoreError if it cannot be written.
    """
    now = time.time() if now is None else now
    with _changing(now) as kept:
        found = next((one for one in kept.pauses if one.project == project), None)
        if found is None:
            return None
        ended = found._replace(until=max(now, found.since))
        _archive([ended])
        _write(kept._replace(pauses=tuple(one for one in kept.pauses if one.project != project)))
    return ended


def take_over(source: str, target: str) -> None:
    """Extend the pauses of a project, current and past, to the project that takes over its memory.

    Raises StoreError if they cannot be read or written.
    """
    if not folder().is_dir():
        return
    with _changing(time.time()) as kept:
        past = [one._replace(project=target) for one in read(past=True).past if one.project == source]
        if past:
            _archive(past)
        found = [one for one in kept.pauses if one.project == source]
        if not found:
            return
        both = [*found, *(one for one in kept.pauses if one.project == target)]
        ends = [one.until for one in both if one.until is not None]
        until = max(ends) if len(ends) == len(both) else None
        pause = Pause(target, min(one.since for one in both), until)
        _write(kept._replace(pauses=(*(one for one in kept.pauses if one.project != target), pause)))


def reset() -> None:
    """Set unreadable files aside, on request of a user who wants to resume recording.

    Raises StoreError if one cannot be renamed.
    """
    for kept in (file(), _past_file()):
        try:
            for one in _json(kept).get("pauses", ()):
                _pause(one)
        except (StoreError, TypeError, ValueError):
            with reported(kept, "rename"):
                set_aside(kept)


def mark_session(session: str, *, never: bool) -> bool:
    """Exclude a session from recording, or include it again; return whether that is a change.

    Raises StoreError if it cannot be written.
    """
    with _changing(time.time()) as kept:
        others = tuple(one for one in kept.sessions if one != session)
        after = (*others, session)[-_SESSIONS:] if never else others
        if (session in kept.sessions) == never:
            return False
        _write(kept._replace(sessions=after))
    return True


def archive_expired(now: float) -> None:
    """Put the pauses away that ran out. Raises StoreError if it cannot be written down."""
    if any(one.until is not None and one.until <= now for one in read().pauses):
        with _changing(now):
            pass


@contextmanager
def _changing(now: float) -> Iterator[Pauses]:
    """What is kept, under the lock, without pauses that ran out."""
    with holding(folder() / "lock"):
        kept = read()
        over = [one for one in kept.pauses if one.until is not None and one.until <= now]
        if over:
            _archive(over)
            kept = kept._replace(pauses=tuple(one for one in kept.pauses if one not in over))
            _write(kept)
        yield kept


def _archive(over: list[Pause]) -> None:
    known = [_pause(one) for one in _json(_past_file()).get("pauses", ())]
    kept = list(dict.fromkeys([*known, *over]))[-_PAST:]
    # Before it leaves the other file: a process that is killed in between has it in both, and in none never.
    write_json(_past_file(), {"pauses": [list(one) for one in kept]})


def _write(kept: Pauses) -> None:
    fields = {"pauses": [list(one) for one in kept.pauses], "sessions": list(kept.sessions)}
    write_json(file(), fields)


def _past_file() -> Path:
    return folder() / "past.json"


def _json(kept: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(kept, _BYTES))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(kept, str(error)) from error
    if not isinstance(found, dict) or not all(isinstance(found.get(one, []), list) for one in ("pauses", "sessions")):
        raise _damaged(kept, "not an object with lists")
    if not all(isinstance(one, str) for one in found.get("sessions", ())):
        raise _damaged(kept, "a session without an id")
    return found


def _pause(fields: Any) -> Pause:
    project, since, until = fields
    pause = Pause(project, float(since), None if until is None else float(until))
    if not isinstance(project, str) or not math.isfinite(pause.since) or not math.isfinite(pause.until or 0.0):
        raise ValueError("not a project and its times")
    return pause


def _damaged(kept: Path, reason: str) -> StoreError:
    return StoreError(
        f"Nothing is recorded: {kept} (pauses of recording) cannot be read: {reason}.",
        hint="`cm resume --everywhere` starts a new list.",
    )


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
    kept = read()
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
        kept = read(past=True)
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
