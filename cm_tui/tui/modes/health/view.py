"""What health shows: daemon, jobs, freshness, checks, the index, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from cm_tui.errors import CmError
from cm_tui.model import Check, FileEntry, ProjectStatus
from cm_tui.tui.modes.health import daemon_texts as daemon_text
from cm_tui.tui.modes.health import texts as text
from cm_tui.tui.modes.health.daemon_report import DaemonFacts, gather
from cm_tui.tui.modes.health.panel import Panel
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.widgets.text import count

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord

_LEFT = (
    ("daemon", "Daemon"), ("freshness", "Freshness"), ("jobs", "Jobs"), ("log", "This session"), ("daemon-log", "Daemon's log"),
)  # fmt: skip
_RIGHT = (("checks", "Checks"), ("index", "Index"), ("files", "Not read in full"), ("skipped", "Skipped"))
EVERY = 1.0
"""Seconds between looks at the daemon while the mode is on screen."""


class HealthView(ModeScreen):
    """Panels in two columns, and a verdict above them."""

    def __init__(self) -> None:
        super().__init__()
        self._seen_status: object = None
        self._checked = False
        self._checks: tuple[Check, ...] = ()
        self.facts: DaemonFacts | None = None
        self._looking = False
        self._told_when = ""
        """How long ago the index was made, as it is on screen."""

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        yield Static("", id="health-verdict", markup=False)
        with VerticalScroll(id="health"), Horizontal(id="health-columns"):
            for side, panels in (("left", _LEFT), ("right", _RIGHT)):
                with Vertical(id=f"health-{side}"):
                    for name, title in panels:
                        yield Panel(name, title)

    def on_mount(self) -> None:
        """Scrolls with the keys at once."""
        self.query_one("#health").focus()
        self._put("checks", Content.styled("Checking…", "$muted"))
        for name in ("jobs", "daemon-log"):
            self._put(name, Content(""))
        for name in ("daemon", "freshness"):
            self._put(name, Content.styled("Asking…", "$muted"))
        self.set_interval(EVERY, self.look)
        self.set_interval(EVERY, self._tick)

    def _put(self, name: str, content: Content | Callable[[int], Content]) -> None:
        draw = content if callable(content) else lambda _: content
        self.query_one(f"#health-{name}", Panel).show(draw)

    # --- news ---

    def project_changed(self) -> None:
        """Show the latest state; ask for what it does not hold."""
        view = self.cm.project
        self.look()
        self._put("log", lambda width: text.log_text(self.cm.activity_log.lines, width))
        if view.engine != "opening" and not self._checked:
            self._checked = True
            self.check()
        if view.engine == "failed" or (view.status is None and view.status_error):
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
            words = "There is no index yet; i makes one." if not self.cm.tasks.indexing else "Indexing…"
            self._put("index", Content.styled(words, "$warning"))
            self._put("files", Content(""))
            self._put("skipped", Content(""))
            return
        self._show_index(status)
        self._put("skipped", text.skipped_text(status))
        self.query_one("#health-skipped").border_subtitle = Content("s lists them" if status.skipped else "")
        if status.errors:
            self.ask("files", lambda engine: [entry for entry in engine.files().rows if entry.error], self._got_files)
        else:
            self._got_files([])

    def _show_index(self, status: ProjectStatus) -> None:
        self._told_when = text.when(status)
        self._put("index", lambda width: text.index_text(status, width))

    def _tick(self) -> None:
        """Draw the index again once its age is another: that costs a comparison a second, and a text a minute."""
        status = self.cm.project.status
        shown = self.is_current and status is self._seen_status and status is not None and status.indexed
        if shown and status is not None and text.when(status) != self._told_when:
            self._show_index(status)

    def _got_files(self, files: list[FileEntry]) -> None:
        self._put("files", text.files_text(files))
        self.query_one("#health-files").border_subtitle = Content(f"{len(files):,}" if files else "")

    # --- the daemon ---

    def look(self) -> None:
        """Request daemon, jobs and freshness while the mode is visible and no request is pending."""
        view = self.cm.project
        seen = self.is_current or self.facts is None
        # The request would restart a lost daemon; `daemon_sync` decides that, because another one may follow.
        # An engine without a daemon has no status while it indexes or rebuilds.
        away = view.engine == "opening" or view.daemon == "lost" or (view.daemon == "none" and self.cm.tasks.indexing)
        if self._looking or not seen or away:
            self._show_verdict()
            return
        self._looking = True
        engine = self.cm.tasks.engine if view.engine == "open" else None
        self.cm.tasks.work(lambda: gather(engine), self._got_facts, topic="health.daemon")

    def _got_facts(self, facts: DaemonFacts) -> None:
        self._looking = False
        self.facts = facts
        for name, draw in (
            ("daemon", daemon_text.daemon_text), ("freshness", daemon_text.freshness_text), ("jobs", daemon_text.jobs_text),
            ("daemon-log", daemon_text.daemon_log_text),
        ):  # fmt: skip
            self._put(name, partial(draw, facts))
        words = {"": "", "on": "G removes the git hooks"}.get(self.hooks_state, "g installs git hooks")
        self.query_one("#health-freshness").border_subtitle = Content(words)
        active = self.active_jobs
        self.query_one("#health-jobs").border_subtitle = Content("c cancels one" if active else "")
        if self._checks:
            self._show_checks()
        self._show_verdict()
        self.refresh_keys()

    def _show_verdict(self) -> None:
        """The whole mode in a line, above what can be scrolled."""
        pieces = [text.checks_verdict(self.all_checks)] if self._checks else []
        if self.cm.project.daemon == "lost":
            pieces.append(("◌ daemon lost, reconnecting", "$warning"))
        elif self.facts is not None:
            pieces.append(("● daemon", "$success") if self.facts.daemon else ("○ no daemon", "$muted"))
            pieces.append(daemon_text.verdict_of(self.facts.freshness))
            running = sum(not daemon_text.is_over(job) for job in self.facts.jobs)
            pieces.append((f"◐ {count(running, 'job')}" if running else "", "$accent"))
        shown = [Content.styled(words, style) for words, style in pieces if words]
        self.query_one("#health-verdict", Static).update(Content.styled(" · ", "$faint").join(shown))

    @property
    def active_jobs(self) -> list[JobRecord]:
        """Jobs that are not over, of any project."""
        return [job for job in self.facts.jobs if not daemon_text.is_over(job)] if self.facts else []

    @property
    def hooks_state(self) -> str:
        """How git hooks are set up: `on`, `off`, `failed`; empty while that is not known, or where there is no git."""
        state = self.facts.freshness if self.facts else None
        if state is None or not (self.cm.project.status and self.cm.project.status.git):
            return ""
        return next((layer.state for layer in state.layers if layer.name == "git hooks"), "")

    # --- checks ---

    def check(self) -> None:
        """Run all checks; without the project when that is not open."""
        self.query_one("#health-checks").border_subtitle = Content("checking…")
        if self.cm.project.engine == "open":
            self.ask("checks", lambda engine: engine.doctor(), self._got_checks, self._no_checks)
            return
        root = self.cm.root

        def examine() -> tuple[Check, ...]:
            from cm_tui.engine.api.projects import examine_closed

            return examine_closed(root)

        self.cm.tasks.work(examine, self._got_checks, topic="health.checks")

    @property
    def all_checks(self) -> tuple[Check, ...]:
        """The checks of the project, and those of the daemon."""
        daemon = self.facts.daemon if self.facts else None
        return (*self._checks, *(daemon.checks if daemon else ()))

    def _got_checks(self, checks: tuple[Check, ...]) -> None:
        self._checks = checks
        self._show_checks()
        self._show_verdict()

    def _show_checks(self) -> None:
        checks = self.all_checks
        self._put("checks", lambda width: text.checks_text(checks, width))
        self.query_one("#health-checks").border_subtitle = Content(text.verdict(checks))

    def _no_checks(self, error: CmError) -> None:
        self._put("checks", Content.styled(str(error), "$error"))
        self.query_one("#health-checks").border_subtitle = Content("")
