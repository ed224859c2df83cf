"""Health: does everything work here, what is in the index, what was done, and how to mend it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.model import Check, FileEntry, Page, SkippedFile
from cm_tui.tui.commands import Command, bindings
from cm_tui.tui.screens import health_text as text
from cm_tui.tui.screens.base import ModeScreen
from cm_tui.tui.screens.confirm import ConfirmScreen

_PANELS = (
    ("checks", "Checks"), ("index", "Index"), ("files", "Read by lines only"), ("skipped", "Left out"),
    ("log", "This session"),
)  # fmt: skip


class Panel(Static):
    """A text that is drawn for the width it has, and again when that changes."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__("", id=f"health-{name}", classes="panel", markup=False)
        self.border_title = Content(title)
        self._draw: Callable[[int], Content] = lambda _: Content("")

    def show(self, draw: Callable[[int], Content]) -> None:
        """Show what `draw` gives for a width; a panel without text is not shown."""
        self._draw = draw
        content = draw(max(30, self.size.width))
        self.display = bool(content.plain)
        self.update(content)

    def on_resize(self) -> None:
        """Wrap at the new width."""
        self.update(self._draw(max(30, self.size.width)))


def _not_now(screen: HealthScreen) -> str | None:
    if screen.cm.project.door != "open":
        return "the project is not open"
    return "an index run is on its way" if screen.cm.gateway.indexing else None


class HealthScreen(ModeScreen):
    """Check the installation and the index."""

    MODE = "health"
    INTRO = (
        "Whether every part that cm stands on works here, and how to mend one that does not; what the index holds and "
        "how far its vectors are; which files could not be parsed; and what this session did."
    )
    COMMANDS_HERE: ClassVar[tuple[Command, ...]] = (
        Command("health.check", "r", "Check again", "Run all checks again", "check"),
        Command("health.index", "i", "Update", "Index what changed", "start_index", blocked=_not_now),
        Command("health.full", "f", "Full", "Read every file again", "start_full_index", blocked=_not_now),
        Command("health.rebuild", "b", "Build anew", "Throw the index away and make it again", "rebuild",
                blocked=_not_now),
        Command("health.skipped", "s", "Left out", "List the files that are not indexed", "show_skipped",
                blocked=_not_now),
        Command("health.reset", "X", "Reset", "Remove the index of this project", "reset", shown_as="X",
                blocked=_not_now),
    )  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = bindings(COMMANDS_HERE)

    def __init__(self) -> None:
        super().__init__()
        self._seen_status: object = None
        self._checked = False

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        with VerticalScroll(id="health"), Horizontal(id="health-columns"):
            with Vertical(id="health-left"):
                yield self._panel("checks")
                yield self._panel("index")
            with Vertical(id="health-right"):
                yield self._panel("log")
                yield self._panel("files")
                yield self._panel("skipped")

    def _panel(self, name: str) -> Panel:
        return Panel(name, dict(_PANELS)[name])

    def on_mount(self) -> None:
        """Scrolls with the keys at once."""
        self.query_one("#health").focus()
        self._put("checks", Content.styled("Checking…", "$muted"))
        super().on_mount()

    def _put(self, name: str, content: Content | Callable[[int], Content]) -> None:
        draw = content if callable(content) else lambda _: content
        self.query_one(f"#health-{name}", Panel).show(draw)

    # --- news ---

    def project_changed(self) -> None:
        """Show the latest state; ask for what it does not hold."""
        view = self.cm.project
        self._put("log", lambda width: text.log_text(self.cm.session.lines, width))
        if view.door != "opening" and not self._checked:
            self._checked = True
            self.check()
        if view.door == "failed" or (view.status is None and view.status_error):
            error = view.error or view.status_error
            self._put("index", Content.styled(str(error), "$error"))
            self._put("files", Content(""))
            self._put("skipped", Content(""))
        elif view.status is None:
            self._put("index", Content.styled("Opening the project…", "$muted"))
        elif view.status is not self._seen_status:
            self._seen_status = view.status
            self._show_status()

    def _show_status(self) -> None:
        status = self.cm.project.status
        assert status is not None
        if not status.indexed:
            words = "There is no index yet; i makes one." if not self.cm.gateway.indexing else "Indexing…"
            self._put("index", Content.styled(words, "$warning"))
            self._put("files", Content(""))
            self._put("skipped", Content(""))
            return
        self._put("index", lambda width: text.index_text(status, width))
        self._put("skipped", text.skipped_text(status))
        self.query_one("#health-skipped").border_subtitle = Content("s lists them" if status.skipped else "")
        if status.errors:
            self.ask("files", lambda door: [entry for entry in door.files().rows if entry.error], self._got_files)
        else:
            self._got_files([])

    def _got_files(self, files: list[FileEntry]) -> None:
        self._put("files", text.files_text(files))
        self.query_one("#health-files").border_subtitle = Content(f"{len(files):,}" if files else "")

    # --- commands ---

    def check(self) -> None:
        """Run all checks; without the project when that is not open."""
        self.query_one("#health-checks").border_subtitle = Content("checking…")
        if self.cm.project.door == "open":
            self.ask("checks", lambda door: door.doctor(), self._got_checks, self._no_checks)
            return
        root = self.cm.root

        def examine() -> tuple[Check, ...]:
            from cm_tui.engine.doctor import examine

            return examine(root)

        self.cm.gateway.work(examine, self._got_checks, topic="health.checks")

    def _got_checks(self, checks: tuple[Check, ...]) -> None:
        self._put("checks", lambda width: text.checks_text(checks, width))
        self.query_one("#health-checks").border_subtitle = Content(text.verdict(checks))

    def _no_checks(self, error: CmError) -> None:
        self._put("checks", Content.styled(str(error), "$error"))
        self.query_one("#health-checks").border_subtitle = Content("")

    def rebuild(self) -> None:
        """Ask, then build anew."""
        question = (
            "Throw the index away and make it again? Nothing of your own is in it; it takes as long as the first time."
        )
        self._confirm(question, "Build anew", self.cm.lifecycle.start_rebuild)

    def reset(self) -> None:
        """Ask, then remove the index."""

        def remove() -> None:
            self.ask("reset", lambda door: door.reset(), self._was_reset)

        question = f"Remove the index of {self.cm.root}? The files of the project stay as they are."
        self._confirm(question, "Remove it", remove)

    def _was_reset(self, _: None) -> None:
        self.cm.session.add("The index was removed.", "ok")
        self.cm.tell("The index was removed; i makes a new one.")
        self.cm.lifecycle.refresh_status()

    def _confirm(self, question: str, yes: str, action: Callable[[], None]) -> None:
        def answered(answer: bool | None) -> None:
            if answer:
                action()

        self.app.push_screen(ConfirmScreen(question, yes), answered)

    def show_skipped(self) -> None:
        """List the files that are not indexed."""
        from cm_tui.tui.screens.skipped import SkippedScreen

        def got(page: Page[SkippedFile]) -> None:
            self.app.push_screen(SkippedScreen(page))

        self.ask("skipped", lambda door: door.skipped(), got)
