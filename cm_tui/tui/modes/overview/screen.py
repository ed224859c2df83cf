"""Overview: the project, its index, skipped files, next steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from textual import events, on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget

from cm_tui import model
from cm_tui.counts import count, noun
from cm_tui.errors import CmError, StoreDamagedError, StoreTooNewError
from cm_tui.tui.modes.overview import texts as text
from cm_tui.tui.screens.app_commands import cannot_index, no_index_run, not_open, show_mode, start_index, stop_index
from cm_tui.tui.screens.commands import Command, unless
from cm_tui.tui.screens.messages import OpenReview, ReadEpisode
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.screens.small_lists import list_skipped
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.widgets.split import FittedText, Page

EVERY = 1.0
"""Seconds between looks whether the age of the index reads differently."""


Reason = Callable[["OverviewScreen"], str | None]
_open_already: Reason = unless(lambda screen: screen.cm.project.engine == "failed", "the project is already open")
_nothing_stale: Reason = unless(
    lambda screen: (status := screen.cm.project.status) and status.stale, "no memory names missing code"
)
_no_import: Reason = unless(lambda screen: screen.cm.project.importing, "no session is being imported or copied")
_importing: Reason = unless(lambda screen: not screen.cm.project.importing, "sessions are being imported or copied")


def _nothing_skipped(screen: OverviewScreen) -> str | None:
    view = screen.cm.project
    known = view.status or view.plan
    return None if known and known.skipped else "no files were skipped"


def _no_work(screen: OverviewScreen) -> str | None:
    state = screen.work
    if state is None or not state.session:
        return "no session of the last 7 days is recorded"
    return None if state.episode else "its first turn is in progress: it is listed once that ends"


def _last_session(engine: Engine) -> tuple[model.WorkState, bool]:
    """Return where the last session stopped, and whether its agent can be opened at it."""
    # On the worker, as what knows the agents is slow to import.
    from cm_tui.tui.screens.episode_commands import cannot_resume

    state = engine.work_state()
    return state, bool(state.session) and cannot_resume(state) is None


def read_work(screen: OverviewScreen) -> None:
    """Show the last session in Episodes."""
    if screen.work is not None:
        screen.post_message(ReadEpisode(screen.work.episode, screen.work.session))


def ask_rebuild(screen: OverviewScreen) -> None:
    """Rebuild the index after a confirmation."""
    question = "Delete this project's index and rebuild it? Nothing else changes."
    confirm(screen, question, "Rebuild", lambda: _rebuild(screen))


def _nothing_to_import(screen: OverviewScreen) -> str | None:
    if screen.cm.project.importing:
        return "sessions are being imported"
    if screen.cm.session_import.looking:
        return "still looking for past sessions; once found, they are offered under Next"
    return not_open(screen)


def rescue(screen: OverviewScreen) -> None:
    """Keep copies of agents' transcripts, after a question."""
    number = screen.cm.project.expiring
    soon = (
        f"{count(number, 'session')} on this machine {noun(number, 'is', 'are')} deleted by the agent within 5 days. "
    )
    question = (
        f"{soon if number else ''}Keep private copies of the transcripts of all projects, compressed, in cm's own folder? "
        "Excluded sessions are not copied; the agents' files are not changed."
    )
    confirm(screen, question, "Keep copies", screen.cm.session_import.rescue)


def import_sessions(screen: OverviewScreen) -> None:
    """Record past sessions of agents; where none are known, look again."""
    if screen.cm.project.sessions_to_import:
        screen.cm.session_import.start()
        return

    def looked() -> None:
        plan = screen.cm.project.imports
        if plan is not None and plan.new:
            screen.cm.session_import.start()
        else:
            screen.cm.refuse("Import: all past sessions found are already imported")

    screen.cm.report("Looking for past sessions…")
    screen.cm.session_import.look_again(looked, screen.cm.tell_error)


def _rebuild(screen: OverviewScreen) -> None:
    """Rebuild the index; move a damaged store aside first."""
    if screen.cm.project.engine == "open":
        screen.cm.lifecycle.start_rebuild()
    else:
        screen.cm.lifecycle.repair_and_reopen()


OVERVIEW_COMMANDS: tuple[Command[OverviewScreen], ...] = (
    Command("overview.search", "enter,slash", "Search", "Ask the code", show_mode("search")),
    Command("overview.index", "i", "Update", "Index changes", start_index, blocked=cannot_index),
    Command("overview.stop", "x", "Stop", "Stop the index run; i continues it", stop_index, blocked=no_index_run),
    Command("overview.skipped", "s", "Skipped", "List the files that are not indexed", list_skipped,
            blocked=(not_open, _nothing_skipped)),
    Command("overview.stale", "t", "Stale", "Review memories that name missing code",
            lambda screen: screen.post_message(OpenReview("kind:outdated")), bar=False,
            blocked=(not_open, _nothing_stale)),
    Command("overview.work", "w", "Last session", "Where you left off: read the last session in Episodes", read_work,
            bar=False, blocked=_no_work),
    Command("overview.rebuild", "b", "Rebuild", "Delete the index and rebuild it", ask_rebuild,
            blocked=lambda screen: screen.why_no_rebuild),
    Command("overview.import", "m", "Import", "Record past sessions of coding agents", import_sessions, bar=False,
            blocked=_nothing_to_import),
    Command("overview.stop-import", "M", "Stop the import", "Recorded sessions are kept; m continues",
            lambda screen: screen.cm.session_import.stop(), bar=False, blocked=_no_import),
    Command("overview.rescue", "R", "Keep copies", "Copy the transcripts of all projects before agents delete them",
            rescue, bar=False, blocked=(_importing, not_open)),
    Command("overview.retry", "r", "Try again", "Reopen the project",
            lambda screen: screen.cm.lifecycle.reopen(), bar=False, blocked=_open_already),
)  # fmt: skip


class OverviewScreen(ModeScreen, commands=OVERVIEW_COMMANDS):
    """The project and its index at a glance."""

    INTRO = (
        "The state of this project. A project is indexed automatically when it is opened; keyword and symbol "
        "queries work as soon as its files are parsed; vectors follow."
    )

    work: model.WorkState | None = None
    """Where the last session stopped; None: not asked yet."""

    def compose_body(self) -> Iterable[Widget]:
        """Panels in two columns, or in one where it is narrow."""
        with Page(id="overview"):
            yield FittedText("ov-error", "This project cannot be opened")
            with Horizontal(id="ov-columns"):
                with Vertical(id="ov-left"):
                    yield FittedText("ov-work", "Where you left off")
                    yield FittedText("ov-next", "Next")
                    yield FittedText("ov-project", "Project")
                with Vertical(id="ov-right"):
                    yield FittedText("ov-index", "Index")
                    yield FittedText("ov-languages", "Languages")
                    yield FittedText("ov-skipped", "Skipped")

    def on_mount(self) -> None:
        """Titles, then content."""
        self.query_one("#overview").focus()
        self.set_interval(EVERY, self._tick)

    def project_changed(self) -> None:
        """Show the latest state."""
        view, cm = self.cm.project, self.cm
        failed = view.engine == "failed"
        error = text.error_text(view, can_repair=self.why_no_rebuild is None) if failed else Content("")
        self._put("error", error)
        self.query_one("#ov-columns").display = not failed
        if failed:
            return
        known = view.status if view.status and view.status.indexed else view.plan
        skipped = text.skipped_text(known.skipped if known else {}, view.status)
        self._put("project", lambda width: text.project_text(view, cm.root, width))
        self._put("index", lambda width: text.index_text(view, width))
        self._put("languages", lambda width: text.languages_text(known.languages if known else {}, width))
        self._put("skipped", skipped)
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
            self.work = self.work or model.WorkState()
            self.ask("work", _last_session, self._got_work, self._no_work)

    def _got_work(self, found: tuple[model.WorkState, bool]) -> None:
        self.work, can_resume = found
        self._put("work", partial(text.work_text, self.work, can_resume=can_resume))
        self.refresh_keys()

    def _no_work(self, error: CmError) -> None:
        self._put("work", Content.styled(error.one_line, "$error"))

    def _tick(self) -> None:
        """Show how old the index is by now."""
        if self.is_current:
            self.query_one("#ov-index", FittedText).redraw()

    @property
    def why_no_rebuild(self) -> str | None:
        """Why the index cannot be rebuilt now; a damaged store can, after it is moved aside."""
        view = self.cm.project
        if view.engine == "open":
            return "an index run is in progress" if self.cm.tasks.indexing else None
        if isinstance(view.error, StoreDamagedError | StoreTooNewError) and self.cm.lifecycle.repair:
            return None
        return "a rebuild does not fix this"

    def _put(self, name: str, make: Content | Callable[[int], Content]) -> None:
        self.query_one(f"#ov-{name}", FittedText).show(make)
