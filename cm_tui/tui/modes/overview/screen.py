"""Overview: what the project is, how far its index is, what was left out, what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import StoreDamagedError, StoreTooNewError
from cm_tui.model import Page, SkippedFile
from cm_tui.tui.modes.overview import texts as text
from cm_tui.tui.screens.commands import Command, bindings
from cm_tui.tui.screens.mode_screen import ModeScreen


def _open_already(screen: OverviewScreen) -> str | None:
    return None if screen.cm.project.engine == "failed" else "the project is open"


def _cannot_rebuild(screen: OverviewScreen) -> str | None:
    view = screen.cm.project
    if view.engine == "open":
        return "an index run is on its way" if screen.cm.tasks.indexing else None
    if isinstance(view.error, StoreDamagedError | StoreTooNewError) and screen.cm.lifecycle.repair:
        return None
    return "building anew does not mend this"


def _cannot_index(screen: OverviewScreen) -> str | None:
    if screen.cm.project.engine != "open":
        return "the project is not open"
    return "an index run is on its way" if screen.cm.tasks.indexing else None


def _no_run(screen: OverviewScreen) -> str | None:
    return None if screen.cm.tasks.indexing or screen.cm.project.job else "no index run is on its way"


def _nothing_skipped(screen: OverviewScreen) -> str | None:
    view = screen.cm.project
    known = view.status or view.plan
    if view.engine != "open":
        return "the project is not open"
    return None if known and known.skipped else "no file was left out"


class OverviewScreen(ModeScreen):
    """The project and its index at a glance."""

    MODE = "overview"
    INTRO: ClassVar[str] = (
        "What cm knows about this project. A project is indexed by itself when it is opened; keyword and symbol "
        "queries answer as soon as its files are parsed, vectors fill in behind."
    )
    COMMANDS_HERE: ClassVar[tuple[Command, ...]] = (
        Command("overview.search", "enter,slash", "Search", "Ask the code", "go_search"),
        Command("overview.index", "i", "Update", "Index what changed", "start_index", blocked=_cannot_index),
        Command("overview.stop", "x,escape", "Stop", "Stop the index run; go on with i", "stop_index", blocked=_no_run),
        Command(
            "overview.skipped",
            "s",
            "Left out",
            "List the files that are not indexed",
            "show_skipped",
            blocked=_nothing_skipped,
        ),
        Command(
            "overview.rebuild",
            "b",
            "Build anew",
            "Throw the index away and make it again",
            "ask_rebuild",
            blocked=_cannot_rebuild,
        ),
        Command(
            "overview.retry",
            "r",
            "Try again",
            "Open the project once more",
            "reopen",
            bar=False,
            blocked=_open_already,
        ),
    )
    BINDINGS = bindings(COMMANDS_HERE)

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        with VerticalScroll(id="overview"):
            yield Static("", id="ov-error", classes="panel", markup=False)
            with Horizontal(id="ov-columns"):
                with Vertical(id="ov-left"):
                    yield Static("", id="ov-project", classes="panel", markup=False)
                    yield Static("", id="ov-next", classes="panel", markup=False)
                with Vertical(id="ov-right"):
                    yield Static("", id="ov-index", classes="panel", markup=False)
                    yield Static("", id="ov-languages", classes="panel", markup=False)
                    yield Static("", id="ov-skipped", classes="panel", markup=False)

    def on_mount(self) -> None:
        """Titles, then content."""
        for name, title in (
            ("project", "Project"), ("next", "Next"), ("index", "Index"), ("languages", "Languages"),
            ("skipped", "Left out"), ("error", "This project cannot be opened"),
        ):  # fmt: skip
            self.query_one(f"#ov-{name}").border_title = title
        self.query_one("#overview").focus()
        super().on_mount()

    def on_resize(self) -> None:
        """Bars are as wide as their panel."""
        self.call_after_refresh(self.project_changed)

    def project_changed(self) -> None:
        """Show the latest state."""
        view, cm = self.cm.project, self.cm
        failed = view.engine == "failed"
        self._put("error", text.error_text(view, can_repair=_cannot_rebuild(self) is None) if failed else Content(""))
        self.query_one("#ov-columns").display = not failed
        if failed:
            return
        known = view.status if view.status and view.status.indexed else view.plan
        width = max(20, self.query_one("#ov-index").size.width - 4)
        self._put("project", text.project_text(view, cm.root, width))
        self._put("index", text.index_text(view, width))
        self._put("languages", text.languages_text(known.languages if known else {}, width))
        self._put("skipped", text.skipped_text(known.skipped if known else {}, view.status))
        self._put("next", text.next_text(view))

    def _put(self, name: str, content: Content) -> None:
        panel = self.query_one(f"#ov-{name}", Static)
        panel.display = bool(content.plain)
        panel.update(content)

    def show_skipped(self) -> None:
        """List the files that are not indexed."""
        from cm_tui.tui.screens.skipped_files import SkippedScreen

        def got(page: Page[SkippedFile]) -> None:
            self.app.push_screen(SkippedScreen(page))

        self.ask("skipped", lambda engine: engine.skipped(), got)

    def ask_rebuild(self) -> None:
        """Build the index anew, after a question."""
        from cm_tui.tui.screens.confirm import ConfirmScreen

        def answered(yes: bool | None) -> None:
            if yes:
                self.rebuild()

        question = "Throw this project's index away and build it again? Nothing else is touched."
        self.app.push_screen(ConfirmScreen(question, "Build anew"), answered)

    def rebuild(self) -> None:
        """Build the index anew; a store that cannot be opened is put out of the way first."""
        if self.cm.project.engine == "open":
            self.cm.lifecycle.start_rebuild()
        else:
            self.cm.lifecycle.repair_and_reopen()
