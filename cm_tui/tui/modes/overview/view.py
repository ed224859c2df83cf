"""Overview: the project, its index, skipped files, next steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events, on
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError, StoreDamagedError, StoreTooNewError
from cm_tui.model import WorkState
from cm_tui.tui.modes.overview import texts as text
from cm_tui.tui.screens.mode_screen import ModeScreen

EVERY = 1.0
"""Seconds between looks whether the age of the index reads differently."""


class FittedText(Static):
    """Text laid out for the width that it has, whenever that changes, also while another mode is on screen."""

    def __init__(self, name: str) -> None:
        super().__init__("", id=f"ov-{name}", classes="panel", markup=False)
        self._make: Callable[[int], Content] = lambda _: Content("")
        self._width = 0

    def show(self, make: Callable[[int], Content]) -> None:
        """Show what a function makes of a width."""
        self._make = make
        self._lay_out()

    def on_resize(self, event: events.Resize) -> None:
        """Lay out again: lines and bars are as wide as the panel."""
        if event.size.width != self._width:
            self._lay_out()

    def _lay_out(self) -> None:
        self._width = self.size.width
        content = self._make(max(20, self._width))
        self.display = bool(content.plain)
        self.update(content)


class OverviewView(ModeScreen):
    """What the overview shows."""

    _told_when = ""
    """How long ago the index was made, as it is on screen."""
    work: WorkState | None = None
    """Where the last session stopped; None: not asked yet."""

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        with VerticalScroll(id="overview"):
            yield FittedText("error")
            with Horizontal(id="ov-columns"):
                with Vertical(id="ov-left"):
                    yield FittedText("project")
                    yield FittedText("next")
                    yield FittedText("work")
                with Vertical(id="ov-right"):
                    yield FittedText("index")
                    yield FittedText("languages")
                    yield FittedText("skipped")

    def on_mount(self) -> None:
        """Titles, then content."""
        for name, title in (
            ("project", "Project"), ("next", "Next"), ("work", "Where you left off"), ("index", "Index"), ("languages", "Languages"),
            ("skipped", "Skipped"), ("error", "This project cannot be opened"),
        ):  # fmt: skip
            self.query_one(f"#ov-{name}").border_title = title
        self.query_one("#overview").focus()
        self.set_interval(EVERY, self._tick)

    def project_changed(self) -> None:
        """Show the latest state."""
        view, cm = self.cm.project, self.cm
        failed = view.engine == "failed"
        error = text.error_text(view, can_repair=self.why_no_rebuild is None) if failed else Content("")
        self._put("error", lambda _: error)
        self.query_one("#ov-columns").display = not failed
        if failed:
            return
        known = view.status if view.status and view.status.indexed else view.plan
        skipped = text.skipped_text(known.skipped if known else {}, view.status)
        self._put("project", lambda width: text.project_text(view, cm.root, width))
        self._show_index()
        self._put("languages", lambda width: text.languages_text(known.languages if known else {}, width))
        self._put("skipped", lambda _: skipped)
        self._put("next", lambda width: text.next_text(view, width))
        if self.work is None:
            self._ask_work()

    @on(events.ScreenResume)
    def _entered(self) -> None:
        """Ask again: agents work on meanwhile."""
        if self.work is not None:
            self._ask_work()

    def _ask_work(self) -> None:
        if self.cm.project.engine == "open":
            self.work = self.work or WorkState()
            self.ask("work", lambda engine: engine.work_state(), self._got_work, self._no_work)

    def _got_work(self, state: WorkState) -> None:
        self.work = state
        self._put("work", lambda width: text.work_text(state, width))
        self.refresh_keys()

    def _no_work(self, error: CmError) -> None:
        why = Content.styled(f"{error.message} {error.hint}".strip(), "$error")
        self._put("work", lambda _: why)

    def _show_index(self) -> None:
        view = self.cm.project
        self._told_when = text.when_indexed(view.status) if view.status else ""
        self._put("index", lambda width: text.index_text(view, width))

    def _tick(self) -> None:
        """Draw the index again once its age is another: that costs a comparison a second, and a text a minute."""
        view = self.cm.project
        if not self.is_current or view.engine == "failed" or view.status is None:
            return
        if text.when_indexed(view.status) != self._told_when:
            self._show_index()

    @property
    def why_no_rebuild(self) -> str | None:
        """Why the index cannot be rebuilt now; a damaged store can, after it is moved aside."""
        view = self.cm.project
        if view.engine == "open":
            return "an index run is in progress" if self.cm.tasks.indexing else None
        if isinstance(view.error, StoreDamagedError | StoreTooNewError) and self.cm.lifecycle.repair:
            return None
        return "a rebuild does not fix this"

    def _put(self, name: str, make: Callable[[int], Content]) -> None:
        self.query_one(f"#ov-{name}", FittedText).show(make)
