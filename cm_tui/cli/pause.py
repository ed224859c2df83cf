"""`cm pause`, `cm resume` (recording; with a session: its agent)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from cm_tui import model
from cm_tui.cli.options import root_here
from cm_tui.cli.output import as_json, narrate, plain, print_json, wants_json, write
from cm_tui.counts import count, noun
from cm_tui.errors import CmError, UsageError
from cm_tui.model.dates import local_minute

_BY = {"paused": "person", "never": "settings", "off": "settings", "on": ""}
"""Who stopped it: no agent can."""
_SHOWN = 5


Everywhere = Annotated[bool, typer.Option("--everywhere", "--all", help="All projects.")]
Session = Annotated[
    str,
    typer.Option("--session", metavar="ID|last", help="Never record this session: its id, a unique prefix, or `last`."),
]


def pause(
    time: str | None = None,
    *,
    everywhere: Everywhere = False,
    session: Session = "",
    unknown: bool = False,
    show: bool = False,
) -> None:
    """Stop recording what agents do in this project, for a time or until `cm resume`.

    Hooks write nothing down, sessions of that time are not imported later, and patches recorded afterwards leave out
    the files that were changed meanwhile. Questions are answered all the same.

    Args:
        time ([FOR]): How long: 30m, 2h, 1d; without one until `cm resume`.
        unknown: With --session: take it as a whole id, where it is not known yet.
        show: Say whether recording is paused, and change nothing.
    """
    from cm_tui.engine.api import recording

    if show and (time or session):
        raise UsageError("--show cannot be combined with a duration or --session.")
    if unknown and not session:
        raise UsageError("--unknown requires --session.")
    if session and (time or everywhere):
        raise UsageError("--session excludes a session in all projects, permanently.", hint="Remove the other options.")
    root = None if everywhere else root_here(needed=not session)
    if session:
        _marked(recording.never_record(root, session, unknown=unknown), root, never=True)
        return
    seconds = None if time is None else recording.seconds_of(time)
    _print_result(recording.recording_state(root) if show else recording.pause(root, seconds))


def resume(name: str = "", *, show: bool = False, everywhere: Everywhere = False, session: Session = "") -> None:
    """Record again what agents do in this project; with a session or an episode, open its agent there.

    Args:
        name ([EPISODE_OR_SESSION]): Open the agent at this session instead: its id, an episode of it, or `last`.
        show (--print): With EPISODE_OR_SESSION: only print the command that opens the agent.
    """
    from cm_tui.engine.api import recording

    if name:
        from cm_tui.cli.handoff import resume_session

        if everywhere or session:
            raise UsageError("Resuming an agent takes one session.", hint="Remove --everywhere and --session.")
        resume_session(name, show=show)
        return
    if show:
        raise UsageError("--print requires EPISODE_OR_SESSION.", hint="`cm episodes` lists them.")
    if session and everywhere:
        raise UsageError("A session is excluded in all projects at once.", hint="Remove --everywhere.")
    here = root_here(needed=not (everywhere or session))
    if session:
        _marked(recording.never_record(here, session, never=False), here, never=False)
        return
    _print_result(recording.resume(None, here=here) if everywhere else recording.resume(here))


def _marked(session: str, root: Path | None, *, never: bool) -> None:
    from cm_tui.engine.api import recording

    if wants_json():
        print_json(recording.recording_state(root))
    elif never:
        narrate(f"Session {session} is not recorded from now on; `cm forget --erase` erases what was.")
    else:
        narrate(f"Session {session} is recorded again.")


def _print_result(found: model.RecordingState) -> None:
    if as_json(found):
        return
    write(sentence(found))
    if found.state == "paused":
        narrate(f"`cm resume{' --everywhere' if found.everywhere else ''}` records again.")
    if found.sessions:
        narrate(f"never recorded: {', '.join(found.sessions[-20:])}")


def sentence(found: model.RecordingState) -> str:
    """Say in a sentence whether anything is recorded."""
    if found.state == "never":
        return "This folder is never recorded: it is listed in memory.never_record in your settings."
    if found.state == "off":
        return "Nothing is recorded: agents.record is off in the settings."
    where = "in any project" if found.everywhere else "in this project"
    if found.state == "paused":
        end = "until `cm resume`" if found.until is None else f"until {local_minute(found.until)}"
        # It is not ended by itself: the clock may be the one that is wrong now.
        ahead = found.since is not None and found.since > time.time()
        moved = " It began in the future: the clock was ahead then, or is behind now." if ahead else ""
        return f"Recording is paused: nothing is recorded {where} {end}.{moved}"
    return "What agents do is recorded."


def recording_row(root: Path) -> dict[str, Any]:
    """Return the state of recording as JSON; `held_back` is null where too many files are to be told apart."""
    try:
        state, held = _found(root)
    except CmError as error:
        return {"state": "unknown", "error": error.message}
    fields: dict[str, Any] = plain(state)
    return {**fields, "by": _BY[state.state], "held_back": held if held is None else list(held)}


def recording_lines(root: Path) -> Iterator[str]:
    """Yield the state of recording in sentences."""
    try:
        state, held = _found(root)
    except CmError as error:
        yield f"nothing is recorded: {error.message}"
        return
    yield sentence(state)
    if state.state == "paused":
        end = "`cm resume --everywhere`" if state.everywhere else "`cm resume`"
        since = f" since {local_minute(state.since)}" if state.since is not None else ""
        yield f"paused by a person{since}; {end} ends it"
    if state.sessions:
        yield f"{count(len(state.sessions), 'session')} {noun(len(state.sessions), 'is', 'are')} never recorded"
    if held is None:
        yield "held back: the patches of what was changed in a pause, which is too much to tell apart, until it is committed"
    elif held:
        more = f" and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
        yield f"excluded from patches because they changed during a pause: {', '.join(held[:_SHOWN])}{more}"


def _found(root: Path) -> tuple[model.RecordingState, tuple[str, ...] | None]:
    from cm_tui.engine.api import recording

    return recording.recording_state(root), recording.held_back(root)
