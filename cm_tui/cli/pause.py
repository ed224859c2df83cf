"""`cm pause`, `cm resume` (recording; with a session: its agent)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, project_of

if TYPE_CHECKING:
    from cm_tui.model import RecordingState


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("pause")(pause)
    app.command("resume")(resume)


Everywhere = Annotated[bool, typer.Option("--everywhere", "--all", help="All projects.")]
Session = Annotated[
    str,
    typer.Option(
        "--session", metavar="ID|last", help="This session alone, for ever: its id, a beginning of it, or the last one."
    ),
]


def pause(
    time: Annotated[
        str | None, typer.Argument(metavar="[FOR]", help="How long: 30m, 2h, 1d; without one until `cm resume`.")
    ] = None,
    everywhere: Everywhere = False,
    session: Session = "",
    unknown: Annotated[
        bool, typer.Option("--unknown", help="With --session: take it as a whole id, where it is not known yet.")
    ] = False,
    show: Annotated[bool, typer.Option("--show", help="Say whether recording is paused, and change nothing.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Stop recording what agents do in this project, for a time or until `cm resume`.

    Hooks write nothing down, sessions of that time are not imported later, and patches recorded afterwards leave out
    the files that were changed meanwhile. Questions are answered all the same.
    """
    from cm_tui.engine.api import recording
    from cm_tui.errors import UsageError

    if show and (time or session):
        raise UsageError("--show changes nothing: it goes without a time and without --session.")
    if unknown and not session:
        raise UsageError("--unknown goes with --session.")
    if session and (time or everywhere):
        raise UsageError("A session is never recorded from now on, in no project.", hint="Leave out the rest.")
    root = None if everywhere else _root(project, needed=not session)
    if session:
        _marked(recording.never_record(root, session, unknown=unknown), root, never=True, as_json=as_json)
        return
    seconds = None if time is None else recording.seconds_of(time)
    _tell(recording.recording_state(root) if show else recording.pause(root, seconds), as_json=as_json)


def resume(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[EPISODE_OR_SESSION]",
            help="Open the agent at this session instead: its id, an episode of it, or `last`.",
        ),
    ] = "",
    show: Annotated[
        bool, typer.Option("--print", help="With EPISODE_OR_SESSION: only print the command that opens the agent.")
    ] = False,
    everywhere: Everywhere = False,
    session: Session = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Record again what agents do in this project; with a session or an episode, open its agent there."""
    from cm_tui.engine.api import recording
    from cm_tui.errors import UsageError

    if name:
        from cm_tui.cli.handoff import resume_session

        if everywhere or session:
            raise UsageError("An agent is opened at one session.", hint="Leave out --everywhere and --session.")
        resume_session(name, project, show=show, as_json=as_json)
        return
    if show:
        raise UsageError("--print goes with EPISODE_OR_SESSION.", hint="`cm episodes` lists them.")
    if session and everywhere:
        raise UsageError("A session is the same in every project.", hint="Leave out --everywhere.")
    here = _root(project, needed=not (everywhere or session))
    if session:
        _marked(recording.never_record(here, session, never=False), here, never=False, as_json=as_json)
        return
    _tell(recording.resume(None, here=here) if everywhere else recording.resume(here), as_json=as_json)


def _root(project: Path | None, *, needed: bool) -> Path | None:
    """Return the root of the project; None when it is optional and missing."""
    from cm_tui.engine.api import projects
    from cm_tui.errors import CmError

    try:
        return projects.locate(project_of(project), around=project_of(project) is None)[0]
    except CmError:
        if needed:
            raise
        return None


def _marked(session: str, root: Path | None, *, never: bool, as_json: bool) -> None:
    from cm_tui.cli.output import narrate, print_json
    from cm_tui.engine.api import recording

    if as_json:
        print_json(recording.recording_state(root))
    elif never:
        narrate(f"Session {session} is not recorded from now on; `cm forget --erase` erases what was.")
    else:
        narrate(f"Session {session} is recorded again.")


def _tell(found: RecordingState, *, as_json: bool) -> None:
    from cm_tui.cli.output import narrate, print_json, write

    if as_json:
        print_json(found)
        return
    write(sentence(found))
    if found.state == "paused":
        narrate(f"`cm resume{' --everywhere' if found.everywhere else ''}` records again.")
    if found.sessions:
        narrate(f"never recorded: {', '.join(found.sessions[-20:])}")


def sentence(found: RecordingState) -> str:
    """Say in a sentence whether anything is recorded."""
    from cm_tui.model.dates import local_minute

    if found.state == "never":
        return "Nothing is ever recorded in this folder: memory.never_record of your settings names it."
    if found.state == "off":
        return "Nothing is recorded: agents.record is switched off in the settings."
    where = "in any project" if found.everywhere else "in this project"
    if found.state == "paused":
        end = "until `cm resume`" if found.until is None else f"until {local_minute(found.until)}"
        return f"Recording is paused: nothing is recorded {where} {end}."
    return "What agents do is recorded."
