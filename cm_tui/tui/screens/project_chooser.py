"""Choosing another project, and the question whether a moved one is to have its memory again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.content import Content

from cm_tui.config import load_config
from cm_tui.model import KnownProject
from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.screens.question import Option, Question, ask
from cm_tui.tui.widgets.text import ago, elide_middle, fit, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.links import MemoryLink
    from cm_tui.tui.screens.app_services import AppServices


def project_row(row: KnownProject, width: int) -> Content:
    """Draw name, folder, and when it was used."""
    folder = row.roots[0] if row.roots else f"no longer there: {row.gone[0]}" if row.gone else "unknown folder"
    when = fit(ago(time.time() - row.last), 14) if row.last else ""
    room = max(8, width - 24 - 15)
    return Content.assemble(
        (fit(f" {one_line(row.name)}", 24), "bold $foreground" if row.roots else "$muted"),
        (fit(elide_middle(one_line(folder), room - 1), room), "$secondary" if row.roots else "$muted"),
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
        app: shows the list.
        cm: the same application, as modes see it.
    """

    def __init__(self, app: App[Any], cm: AppServices) -> None:
        self._app = app
        self._cm = cm

    def choose(self) -> None:
        """Show the list, once it is read."""

        def call() -> Sequence[KnownProject]:
            from cm_tui.engine.api.known_projects import known_projects

            return known_projects().rows

        def got(found: Sequence[KnownProject]) -> None:
            ask(self._app, ListDialog(
                " Open another project ", " enter opens · esc closes ", found, project_row, self._chosen, close="ctrl+e",
                words=lambda one: "\n".join((one.name, one.identity, *one.roots, *one.gone)),
                placeholder="part of a name or folder", empty="No project of that name.",
            ))  # fmt: skip

        self._cm.tasks.attempt(call, got, self._cm.tell_error, topic="app.projects")

    def _chosen(self, one: KnownProject) -> None:
        here = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        if not one.roots:
            self._cm.tell(f"{one.name} is no longer where it was. Open it where it is now.", severity="warning")
        elif Path(one.roots[0]) == here:
            self._cm.tell("That project is open already.")
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

    def ask_if_moved(self) -> None:
        """Ask about a folder that claims a project all of whose checkouts are gone."""
        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root

        def call() -> MemoryLink:
            from cm_tui.engine.api import links

            return links.memory_link(root)

        def got(found: MemoryLink) -> None:
            if not found.linked and found.gone and found.gone == found.shared_with:
                # No single key links.
                options = [Option("Not now", "escape"), Option("Take its memory along", then=lambda: self._link(found))]
                title = "Was this project moved?"
                ask(self._app, Question("", options, title=title, detail=moved_question(found), look="large"))

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
