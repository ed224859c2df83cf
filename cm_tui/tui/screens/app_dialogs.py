"""Dialogs of the application: another project, and a pause of recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from cm_tui import model
from cm_tui.config import load_config
from cm_tui.engine.api import recording
from cm_tui.errors import CmError
from cm_tui.model.dates import age, local_moment
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.screens.question import Finder, Line, ListDialog, Option, Question, ask, ask_line
from cm_tui.tui.widgets.text import at_home, elide_path, fit, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.links import MemoryLink


def project_row(row: model.KnownProject, width: int) -> Content:
    """Draw name, folder, and when it was used."""
    lead = "gone: " if row.gone and not row.roots else ""
    folder = next(iter((*row.roots, *row.gone)), "unknown folder")
    when = fit(age(time.time() - row.last), 14) if row.last else ""
    room = max(8, width - 24 - 15)
    return Content.assemble(
        (fit(f" {one_line(row.name)}", 24), "bold $foreground" if row.roots else "$muted"),
        (
            fit(lead + elide_path(at_home(one_line(folder)), room - 1 - len(lead)), room),
            "$secondary" if row.roots else "$muted",
        ),
        (when, "$muted"),
    )


def moved_question(found: MemoryLink) -> str:
    """Return what is asked, in words."""
    folders = "\n".join(f"  {folder}" for folder in found.gone)
    return (
        f"{found.root}\nidentifies itself as {found.claims}.\n\nMemory of that project exists from\n{folders}\n"
        "whose checkout is missing. Link it if you moved or cloned the project here yourself. Do not link a folder "
        "that you received from others: agents here would receive that memory."
    )


def choose_project(cm: ModeApp) -> None:
    """List the projects, and open the one that is chosen."""

    def call() -> Sequence[model.KnownProject]:
        from cm_tui.engine.api.known_projects import known_projects

        return known_projects().rows

    def got(found: Sequence[model.KnownProject]) -> None:
        finder = Finder[model.KnownProject](
            lambda one: "\n".join((one.name, one.identity, *one.roots, *one.gone)), "part of a name or folder"
        )
        ask(cm, ListDialog(
            " Open another project ", " enter opens · esc closes ", found, project_row, partial(_chosen, cm), close="ctrl+e",
            empty="No matching projects.", finder=finder,
        ))  # fmt: skip

    cm.tasks.attempt(call, got, cm.tell_error, topic="app.projects")


def _chosen(cm: ModeApp, one: model.KnownProject) -> None:
    if not one.roots:
        cm.tell(f"{one.name} is no longer at that path. Open it at its new path.", severity="warning")
    elif Path(one.roots[0]) == cm.checkout:
        cm.tell("That project is already open.")
    else:
        folder = Path(one.roots[0])
        # Once its settings can be read.
        cm.tasks.attempt(
            lambda: load_config(folder), lambda _: cm.open_project(folder), cm.tell_error, topic="app.projects"
        )


def ask_if_moved(cm: ModeApp, status: model.ProjectStatus) -> None:
    """Ask about a folder that claims a project all of whose checkouts are gone."""
    if not status.claims_other:
        return
    root = cm.checkout

    def call() -> MemoryLink:
        from cm_tui.engine.api import links

        return links.memory_link(root)

    def got(found: MemoryLink) -> None:
        if not found.linked and found.gone and found.gone == found.shared_with:
            # No single key links.
            options = [Option("Not now", "escape"), Option("Keep its memory", then=lambda: _link(cm, found))]
            title = "Was this project moved?"
            ask(cm, Question("", options, title=title, detail=moved_question(found), look="large"))

    # Opening the project reports unreadable files.
    cm.tasks.attempt(call, got, lambda _: None, topic="app.moved")


def _link(cm: ModeApp, found: MemoryLink) -> None:
    def call() -> None:
        from cm_tui.engine.api import links

        links.link(found)

    def linked(_: None) -> None:
        # The linked memory has another store: reopen the project.
        cm.open_project(Path(found.root), without=Path(found.store))

    cm.tasks.attempt(call, linked, cm.tell_error, topic="app.moved")


_HINT = "Examples: 30m, 2h, 1d; empty: until you resume. Meanwhile nothing that agents do is recorded."


def toggle_recording(cm: ModeApp) -> None:
    """Pause recording after a question, or resume it at once, and say what came of it."""
    state, error = cm.project.recording, cm.project.recording_error
    root = cm.checkout
    if error is not None or (state is not None and state.state == "paused"):
        everywhere = error is not None or (state is not None and state.everywhere)
        _do(cm, lambda: _resume(root, everywhere=everywhere))
    elif state is not None and state.state == "never":
        cm.tell("This folder is never recorded: it is listed in memory.never_record of your settings.")
    elif state is not None and state.state == "off":
        cm.tell("Recording is off: agents.record is false in the settings.")
    else:
        line = Line(lambda answer: _pause(cm, root, answer), hint=_HINT, check=_wrong)
        ask_line(cm, "Pause recording for how long?", line)


def _pause(cm: ModeApp, root: Path, answer: str) -> None:
    seconds = recording.seconds_of(answer) if answer.strip() else None
    _do(cm, lambda: recording.pause(root, seconds))


def _do(cm: ModeApp, change: Callable[[], model.RecordingState]) -> None:
    cm.tasks.attempt(change, partial(_done, cm), partial(_failed, cm), topic="app.recording")


def _failed(cm: ModeApp, error: CmError) -> None:
    cm.tell_error(error)
    cm.recording_watch.look()


def _done(cm: ModeApp, found: model.RecordingState) -> None:
    if found.state == "paused":
        end = f"until {local_moment(found.until, time.time())}" if found.until else "until you resume it"
        cm.tell(f"Recording is paused {end}.")
    else:
        cm.tell("Recording resumed.")
    cm.recording_watch.look()


def _resume(root: Path, *, everywhere: bool) -> model.RecordingState:
    state = recording.resume(None, here=root) if everywhere else recording.recording_state(root)
    return recording.resume(root) if state.state == "paused" or not everywhere else state


def _wrong(answer: str) -> str | None:
    if not answer.strip():
        return None
    try:
        recording.seconds_of(answer)
    except CmError as error:
        return error.one_line
    return None
