"""Pauses of recording, and sessions that are never recorded, in a small file that every hook reads.

While the file is unreadable, it is unknown whether a pause is on: nothing is recorded, and that is reported.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import StoreError
from cm_tui.files import read_bounded, set_aside
from cm_tui.state_file import holding, reported, write_json

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
