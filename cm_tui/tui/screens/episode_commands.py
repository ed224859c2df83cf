"""What several modes do with an episode: erase it, and resume its agent."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable

from textual.app import SuspendNotSupported

from cm_tui.errors import CmError, UsageError
from cm_tui.integrations.agents.resume import program_path, resume_command, run_in
from cm_tui.model import EPISODES, Episode, ErasedEvent, ErasureReport, Session, WorkState, neighbours_note
from cm_tui.model.dates import local_minute
from cm_tui.tui.screens.messages import OpenMemory, ReadEpisode
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm_by_word
from cm_tui.tui.screens.save_text import copy_and_report
from cm_tui.tui.state.revision import query_text
from cm_tui.tui.widgets.text import count, elide_end

WORD = "erase"
"""What has to be typed."""
_ASKED = 60
_SHOWN, _WIDTH = 3, 56
"""Events that the question names beside the episode, and characters of each: all of it fits the smallest screen."""
_NAMES = {
    "hook.prompt": ("prompt", "prompts"),
    "hook.edit": ("note of an edit", "notes of edits"),
    "hook.stop": ("answer", "answers"),
    "episode": ("episode", "episodes"),
}


def erase_episode(screen: ModeScreen, episode: Episode, after: Callable[[Episode], None]) -> None:
    """Show what is erased with an episode, ask twice, and erase it; `after` gets it then."""

    def found(report: ErasureReport) -> None:
        confirm_by_word(
            screen, question(episode, report), "Erase", WORD, f"Type `{WORD}` to erase it", "It cannot be restored.",
            lambda: screen.do(lambda engine: engine.erase([episode.id]), erased),
        )  # fmt: skip

    def erased(report: ErasureReport) -> None:
        neighbours = [neighbours_note(report.neighbours)] if report.neighbours else []
        message = ". ".join([f"Erased {counts(report)}", *neighbours, *report.notes])
        screen.cm.tell(f"{message}.")
        screen.cm.activity_log.add(f"{message}.", "ok")
        seen = screen.cm.revision.episode
        if seen is not None and seen.id == episode.id:
            screen.cm.go_to_now()
        after(episode)

    screen.ask("erase", lambda engine: engine.erase([episode.id], dry_run=True), found)


def counts(report: ErasureReport) -> str:
    """How much goes."""
    kinds = Counter(_NAMES.get(event.kind, ("event", "events")) for event in report.events)
    return ", ".join(count(number, *names) for names, number in kinds.items()) or "what was left of it"


def question(episode: Episode, report: ErasureReport) -> str:
    """What is asked before it goes."""
    seen = [event for event in report.events if event.kind != "episode"][:_SHOWN]
    neighbours = [neighbours_note(report.neighbours, named=1)] if report.neighbours else []
    notes = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in (*report.reasons, *neighbours, *report.notes)]
    return (
        f"Erase “{elide_end(query_text(episode), _ASKED)}” permanently?\n\n"
        f"Erased from the journal: {counts(report)}, with the passages and vectors made from them. "
        "Commits and files are not changed.\n" + "\n".join([*map(_line, seen), *notes])
    )


def _line(event: ErasedEvent) -> str:
    kind = _NAMES.get(event.kind, (event.kind, ""))[0]
    return elide_end(f"{local_minute(event.time)}  {kind}: {event.words}", _WIDTH)


def read_episode(screen: ModeScreen, name: str) -> None:
    """Show an episode in Episodes, by its id."""

    def found(episode: Episode) -> None:
        screen.post_message(ReadEpisode(episode.id, episode.session))

    screen.ask("episode", lambda engine: engine.episode(name), found)


def open_memory(screen: ModeScreen, path: str) -> None:
    """Show what is at a path such as `entry/k3m9x2a`: an episode in its session, an entry or a note among all others."""
    kind, _, name = path.partition("/")
    if kind == EPISODES:
        read_episode(screen, name)
    else:
        screen.post_message(OpenMemory(kind, name))


def cannot_resume(one: Episode | Session | WorkState | None) -> str | None:
    """Return why no agent can be opened at the session of an episode; None when it can."""
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
        copy_and_report(screen, f"cd {shlex.quote(str(root))} && {line}", "")
        screen.cm.refuse(f"Resume: {reason.rstrip('.')}; copied: {line}")
        return
    screen.app.refresh()
    if code:
        screen.cm.refuse(f"Resume: {command[0]} ended with exit code {code}")
    if screen.cm.project.engine == "open":
        screen.cm.lifecycle.start_index()


def _reason(error: OSError | SuspendNotSupported) -> str:
    return (
        f"it could not be started ({error.strerror})"
        if isinstance(error, OSError)
        else "this terminal cannot be shared"
    )


def _command_of(one: Episode | Session | WorkState) -> tuple[str, ...]:
    return resume_command(one.agent, one.id if isinstance(one, Session) else one.session, one.parent)
