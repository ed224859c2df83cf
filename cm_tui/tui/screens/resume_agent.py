"""Open the agent of a session over the whole terminal, and come back; where that is not possible, copy its command."""

from __future__ import annotations

import shlex

from textual.app import SuspendNotSupported

from cm_tui.errors import CmError, UsageError
from cm_tui.integrations.agents.resume import program_path, resume_command, run_in
from cm_tui.model import Episode, Session
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.save_text import copy_and_tell


def cannot_resume(one: Episode | Session | None) -> str | None:
    """Say why no agent can be opened at the session of an episode; None when it can."""
    if one is None:
        return "choose a session or an episode first"
    try:
        _command_of(one)
    except UsageError as error:
        return error.message
    return None


def resume_agent(screen: ModeScreen, one: Episode | Session) -> None:
    """Run the agent at a session in the project's folder; where it cannot run here, copy the command line and say so."""
    command, root = _command_of(one), screen.cm.root
    try:
        program = program_path(command[0], root)
        with screen.app.suspend():
            code = run_in(root, (program, *command[1:]))
    except (CmError, OSError, SuspendNotSupported) as error:
        reason = error.message if isinstance(error, CmError) else _reason(error)
        line = shlex.join(command)
        copy_and_tell(screen, f"cd {shlex.quote(str(root))} && {line}", "")
        screen.cm.refuse(f"Resume: {reason.rstrip('.')}; copied: {line}")
        return
    screen.app.refresh()
    if code:
        screen.cm.refuse(f"Resume: {command[0]} ended with exit code {code}")
    if screen.cm.project.engine == "open":
        screen.cm.lifecycle.start_index()


def _reason(error: OSError | SuspendNotSupported) -> str:
    return (
        f"it could not be started ({error.strerror})" if isinstance(error, OSError) else "this terminal cannot be lent"
    )


def _command_of(one: Episode | Session) -> tuple[str, ...]:
    return resume_command(one.agent, one.session if isinstance(one, Episode) else one.id, one.parent)
