"""Dialogs of the application: another project, and a pause of recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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


class ProjectChooser:
    """Shows the projects, and opens the one that was chosen.

    Args:
        cm: the application.
    """

    def __init__(self, cm: ModeApp) -> None:
        self._cm = cm

    def choose(self) -> None:
        """Show the list, once it is read."""

        def call() -> Sequence[model.KnownProject]:
            from cm_tui.engine.api.known_projects import known_projects

            return known_projects().rows

        def got(found: Sequence[model.KnownProject]) -> None:
            finder = Finder[model.KnownProject](
                lambda one: "\n".join((one.name, one.identity, *one.roots, *one.gone)), "part of a name or folder"
            )
            ask(self._cm, ListDialog(
                " Open another project ", " enter opens · esc closes ", found, project_row, self._chosen, close="ctrl+e",
                empty="No matching projects.", finder=finder,
            ))  # fmt: skip

        self._cm.tasks.attempt(call, got, self._cm.tell_error, topic="app.projects")

    def _chosen(self, one: model.KnownProject) -> None:
        here = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        if not one.roots:
            self._cm.tell(f"{one.name} is no longer at that path. Open it at its new path.", severity="warning")
        elif Path(one.roots[0]) == here:
            self._cm.tell("That project is already open.")
        else:
            self.open(Path(one.roots[0]))

    def open(self, folder: Path) -> None:
        """Open a project, once its settings can be read."""
        self._cm.tasks.attempt(
            lambda: load_config(folder),
            lambda _: self._cm.open_project(folder),
            self._cm.tell_error,
            topic="app.projects",
        )

    def ask_if_moved(self, status: model.ProjectStatus) -> None:
        """Ask about a folder that claims a project all of whose checkouts are gone."""
        if not status.claims_other:
            return
        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root

        def call() -> MemoryLink:
            from cm_tui.engine.api import links

            return links.memory_link(root)

        def got(found: MemoryLink) -> None:
            if not found.linked and found.gone and found.gone == found.shared_with:
                # No single key links.
                options = [Option("Not now", "escape"), Option("Keep its memory", then=lambda: self._link(found))]
                title = "Was this project moved?"
                ask(self._cm, Question("", options, title=title, detail=moved_question(found), look="large"))

        # Opening the project reports unreadable files.
        self._cm.tasks.attempt(call, got, lambda _: None, topic="app.moved")

    def _link(self, found: MemoryLink) -> None:
        def call() -> None:
            from cm_tui.engine.api import links

            links.link(found)

        def linked(_: None) -> None:
            # The linked memory has another store: reopen the project.
            self._cm.open_project(Path(found.root), without=Path(found.store))

        self._cm.tasks.attempt(call, linked, self._cm.tell_error, topic="app.moved")


_HINT = "Examples: 30m, 2h, 1d; empty: until you resume. Meanwhile nothing that agents do is recorded."


class RecordingControl:
    """Pauses after a question, resumes at once, and says what came of it.

    Args:
        cm: the application.
        look: looks again whether anything is recorded.
    """

    def __init__(self, cm: ModeApp, look: Callable[[], None]) -> None:
        self._cm = cm
        self._look = look

    def toggle(self) -> None:
        """Pause, or record again."""
        state, error = self._cm.project.recording, self._cm.project.recording_error
        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        if error is not None or (state is not None and state.state == "paused"):
            everywhere = error is not None or (state is not None and state.everywhere)
            self._do(lambda: _resume(root, everywhere=everywhere))
        elif state is not None and state.state == "never":
            self._cm.tell("This folder is never recorded: it is listed in memory.never_record of your settings.")
        elif state is not None and state.state == "off":
            self._cm.tell("Recording is off: agents.record is false in the settings.")
        else:
            line = Line(lambda answer: self._pause(root, answer), hint=_HINT, check=_wrong)
            ask_line(self._cm, "Pause recording for how long?", line)

    def _pause(self, root: Path, answer: str) -> None:
        seconds = recording.seconds_of(answer) if answer.strip() else None
        self._do(lambda: recording.pause(root, seconds))

    def _do(self, change: Callable[[], model.RecordingState]) -> None:
        self._cm.tasks.attempt(change, self._done, self._failed, topic="app.recording")

    def _failed(self, error: CmError) -> None:
        self._cm.tell_error(error)
        self._look()

    def _done(self, found: model.RecordingState) -> None:
        if found.state == "paused":
            end = f"until {local_moment(found.until, time.time())}" if found.until else "until you resume it"
            self._cm.tell(f"Recording is paused {end}.")
        else:
            self._cm.tell("Recording resumed.")
        self._look()


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
