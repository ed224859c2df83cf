"""Choosing another project, and the question whether a moved one is to have its memory again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from cm_tui.config import load_config
from cm_tui.errors import CmError
from cm_tui.model import KnownProject
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.text import ago, elide_middle, fit, one_line

if TYPE_CHECKING:
    from cm_tui.engine.api.links import MemoryLink
    from cm_tui.tui.screens.app_services import AppServices

T = TypeVar("T")


class ProjectList(RowList[KnownProject]):
    """Name, where it lies, and when it was used."""

    def draw(self, row: KnownProject, width: int) -> Content:
        """One project."""
        folder = row.roots[0] if row.roots else f"no longer there: {row.gone[0]}" if row.gone else "no folder is known"
        when = fit(ago(time.time() - row.last), 14) if row.last else ""
        room = max(8, width - 24 - 15)
        return Content.assemble(
            (fit(f" {one_line(row.name)}", 24), "bold $foreground" if row.roots else "$muted"),
            (fit(elide_middle(one_line(folder), room - 1), room), "$secondary" if row.roots else "$muted"),
            (when, "$muted"),
        )


class ProjectScreen(ModalScreen[KnownProject | None]):
    """All of them, narrowed down by what is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+e", "close", "Close"),
        Binding("down,tab", "to_list", show=False),
    ]

    def __init__(self, projects: Sequence[KnownProject]) -> None:
        super().__init__()
        self._projects = projects

    def compose(self) -> ComposeResult:
        """A box with an input and the list."""
        with Vertical(id="projects-box") as box:
            box.border_title = Content(" Open another project ")
            box.border_subtitle = Content(" enter opens · esc closes ")
            yield Input(placeholder="part of a name or folder", id="projects-match")
            yield ProjectList(empty="No project of that name.", id="projects-list")

    def on_mount(self) -> None:
        """Fill the list."""
        self.query_one(ProjectList).set_rows(self._projects)
        self.query_one(Input).focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        word = event.value.casefold()
        rows = [
            one
            for one in self._projects
            if word in "\n".join((one.name, one.identity, *one.roots, *one.gone)).casefold()
        ]
        self.query_one(ProjectList).set_rows(rows)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.dismiss(self.query_one(ProjectList).current)

    @on(RowList.Chosen)
    def _chosen(self, event: RowList.Chosen) -> None:
        self.dismiss(event.row)

    def action_to_list(self) -> None:
        """From the input to the list."""
        self.query_one(ProjectList).focus()

    def action_close(self) -> None:
        """Stay here."""
        self.dismiss(None)


class MovedQuestion(ModalScreen[bool]):
    """Asks whether a folder is a project that was moved; no single key links.

    Args:
        found: what the folder claims, and where that was.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "later", "Not now"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, found: MemoryLink) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        """What is asked, and the answers."""
        with Vertical(id="moved-box") as box:
            box.border_title = "Was this project moved?"
            with VerticalScroll(id="moved-text", can_focus=False):
                yield Static(Content(moved_question(self._found)))
            with Horizontal(id="moved-buttons"):
                yield Button(Content("Not now (esc)"), id="later", variant="primary")
                yield Button(Content("Take its memory along"), id="link")

    def on_mount(self) -> None:
        """Begin at the answer that changes nothing."""
        self.query_one("#later", Button).focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "link")

    def action_later(self) -> None:
        """Decide nothing."""
        self.dismiss(False)


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

        def call() -> Sequence[KnownProject] | CmError:
            from cm_tui.engine.api.known_projects import known_projects

            return _or_error(lambda: known_projects().rows)

        def got(found: Sequence[KnownProject] | CmError) -> None:
            if isinstance(found, CmError):
                self._cm.tell_error(found)
            else:
                self._app.push_screen(ProjectScreen(found), self._chosen)

        self._cm.tasks.work(call, got, topic="app.projects")

    def _chosen(self, one: KnownProject | None) -> None:
        if one is None:
            return
        here = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root
        if not one.roots:
            self._cm.tell(f"{one.name} is no longer where it was. Open it where it is now.", severity="warning")
        elif Path(one.roots[0]) == here:
            self._cm.tell("That project is open already.")
        else:
            self.open(Path(one.roots[0]))

    def open(self, folder: Path) -> None:
        """Open a project, once its settings can be read."""

        def got(failed: CmError | None) -> None:
            if failed is None:
                self._cm.open_project(folder)
            else:
                self._cm.tell_error(failed)

        def call() -> CmError | None:
            found = _or_error(lambda: load_config(folder))
            return found if isinstance(found, CmError) else None

        self._cm.tasks.work(call, got, topic="app.projects")

    def ask_if_moved(self) -> None:
        """Ask about a folder that claims a project all of whose checkouts are gone."""
        root = self._cm.tasks.engine.root if self._cm.tasks.engine else self._cm.root

        def call() -> MemoryLink | CmError:
            from cm_tui.engine.api import links

            return _or_error(lambda: links.memory_link(root))

        def got(found: MemoryLink | CmError) -> None:
            # Opening the project reports unreadable files.
            if not isinstance(found, CmError) and not found.linked and found.gone and found.gone == found.shared_with:
                self._app.push_screen(MovedQuestion(found), lambda yes: self._link(found) if yes else None)

        self._cm.tasks.work(call, got, topic="app.moved")

    def _link(self, found: MemoryLink) -> None:
        def call() -> CmError | None:
            from cm_tui.engine.api import links

            done = _or_error(lambda: links.link(found))
            return done if isinstance(done, CmError) else None

        def got(failed: CmError | None) -> None:
            if failed is None:
                # The linked memory has another store: reopen the project.
                self._cm.open_project(Path(found.root), without=Path(found.store))
            else:
                self._cm.tell_error(failed)

        self._cm.tasks.work(call, got, topic="app.moved")


def _or_error(work: Callable[[], T]) -> T | CmError:
    try:
        return work()
    except CmError as error:
        return error
