"""Pausing and resuming the recording of sessions, for the user, with or without an index.

Imports are local: the command line imports this module before it knows the command.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from cm_tui import model
from cm_tui.errors import NotFoundError, UsageError

LAST = "last"
"""Instead of a session's id: the last recorded one."""
_MOST_SECONDS = 366 * 86_400.0
_SESSIONS_HINT = "`cm episodes list --sessions` lists the ids; `--unknown` takes a whole id that is not recorded yet."
_HINT = "Examples: 30m, 2h, 1h30m, 1d."


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as `30m`, `2h`, `1h30m` or `1d`.

    Raises UsageError if it is not a duration, or longer than a year.
    """
    from cm_tui.model.dates import length

    seconds = length(text, m="min") if text.strip()[:1].isdigit() else None
    if not seconds:
        raise UsageError(f"Not a duration: {text!r}.", hint=_HINT)
    if seconds > _MOST_SECONDS:
        raise UsageError(f"{text!r} is more than a year.", hint="Without a duration the pause lasts until `cm resume`.")
    return seconds


def recording_state(root: Path | None, *, records: bool | None = None) -> model.RecordingState:
    """Return whether a project's sessions are recorded; well below a millisecond where `records` is given.

    `root`: of its checkout; None: of all projects. `records`: the setting for recording; None: read it. Raises CmError
    if the state is unreadable, and recording is off until it is fixed; or the settings cannot be read.
    """
    from cm_tui.engine.memory.recording import gate
    from cm_tui.engine.platform.journal.location import folder_of

    kept, shown = gate.read(), str(root or "")
    pause = kept.on(root, time.time())
    if root is not None and gate.is_below(root, gate.patterns()):
        return model.RecordingState("never", shown, sessions=kept.sessions)
    if pause is not None:
        everywhere = root is None or pause.project != folder_of(root).name
        return model.RecordingState("paused", shown, pause.since, pause.until, everywhere, kept.sessions)
    if root is not None and not (_records(root) if records is None else records):
        return model.RecordingState("off", shown, sessions=kept.sessions)
    return model.RecordingState("on", shown, sessions=kept.sessions)


def held_back(root: Path) -> tuple[str, ...] | None:
    """Return the changed files that patches exclude because of a pause; None: too many.

    Raises CmError if the data on pauses cannot be read.
    """
    from cm_tui.engine.memory.recording import changes

    return changes.held_back(root)


def pause(root: Path | None, seconds: float | None = None) -> model.RecordingState:
    """Pause recording in a project, for a time or until `resume`; replaces the end of a current pause.

    `root`: of its checkout; None: in all projects. `seconds`: duration; None: until resumed. Raises CmError if the
    pause cannot be written.
    """
    from cm_tui.engine.memory.recording import gate
    from cm_tui.engine.platform.git.identity import claim

    if root is not None:
        # A pause holds for the checkout, even if git later identifies it as another project.
        claim(root)
    gate.begin(_project(root), None if seconds is None else time.time() + seconds)
    return recording_state(root)


def resume(root: Path | None, *, here: Path | None = None) -> model.RecordingState:
    """Resume recording; changes made during the pause are excluded from later patches.

    `root`: of the project's checkout; None: ends the pause of all projects. `here`: root of the user's checkout, where
    all projects are resumed. Raises CmError if it cannot be written.
    """
    from cm_tui.engine.memory.recording import changes, gate
    from cm_tui.errors import StoreError

    try:
        gate.end(_project(root))
    except StoreError:
        if root is not None:
            raise
        # Resuming everywhere also replaces an unreadable file.
        gate.reset()
        gate.end(gate.EVERYWHERE)
    if root is None and here is not None:
        # Those of other projects that hold here because it is unknown whose checkout this is.
        for project in gate.read().projects(here) - {gate.EVERYWHERE, _project(here)}:
            gate.end(project)
    if checkout := root or here:
        changes.settle(checkout)
    return recording_state(root or here)


def never_record(root: Path | None, session: str, *, never: bool = True, unknown: bool = False) -> str:
    """Exclude a session from recording, or include it again; return its id. Recorded episodes stay.

    `session`: its id, a unique prefix of it, or `last`; `never`: False: record it again; `unknown`: accept a whole id
    without recorded episodes. Raises NotFoundError if no session of that name is recorded; UsageError if the id is
    invalid or ambiguous.
    """
    from cm_tui.engine.memory.recording import gate
    from cm_tui.model.ids import plain_id

    name = plain_id(session)
    # Hooks store the digest of a longer one.
    if not name or len(name) > 200:
        raise UsageError(f"Not a session id: {session[:80]!r}.", hint=_SESSIONS_HINT)
    if name == LAST:
        name = _last_session(root)
    elif never:
        name = _known_session(root, name) or (name if unknown else _not_known(name))
    else:
        name = _chosen(name, gate.read().sessions) or _not_marked(name)
    gate.mark_session(name, never=never)
    return name


def _project(root: Path | None) -> str:
    from cm_tui.engine.memory.recording import gate
    from cm_tui.engine.platform.journal.location import folder_of

    return gate.EVERYWHERE if root is None else folder_of(root).name


def _records(root: Path) -> bool:
    from cm_tui.config import load_config

    return load_config(root).agents.record


def _known_session(root: Path | None, name: str) -> str | None:
    """Return the project's session with an id or prefix; None: not recorded."""
    from cm_tui.engine.platform.journal.journal import Journal

    found: dict[str, None] = {}
    for event in Journal.of(root).read() if root is not None else ():
        session = event.text("session")
        if session == name:
            return name
        if session.startswith(name):
            found[session] = None
    return _chosen(name, found)


def _chosen(name: str, known: Iterable[str]) -> str | None:
    """Return the known id that matches a name."""
    try:
        chosen: str = model.id_named(name, known, "session", _SESSIONS_HINT)
    except NotFoundError:
        return None
    return chosen


def _not_known(name: str) -> NoReturn:
    raise NotFoundError(f"Session not found: {model.quoted(name)}.", hint=_SESSIONS_HINT)


def _not_marked(name: str) -> NoReturn:
    hint = "`cm pause --show` lists excluded sessions."
    raise NotFoundError(f"No session {model.quoted(name)} is excluded from recording.", hint=hint)


def _last_session(root: Path | None) -> str:
    from cm_tui.engine.platform.journal.event import Position
    from cm_tui.engine.platform.journal.journal import Journal

    found = ""
    if root is not None:
        journal = Journal.of(root)
        for segment in reversed(journal.segments()):
            for event in journal.read(Position(segment, 0)):
                found = event.text("session") or found
            if found:
                return found
    raise NotFoundError("No session has been recorded here yet.", hint="Give its id.")
