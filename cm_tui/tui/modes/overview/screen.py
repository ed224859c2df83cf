"""Overview: the project, its index, skipped files, next steps."""

from __future__ import annotations

from cm_tui.counts import count, noun
from cm_tui.tui.modes.overview.view import OverviewView
from cm_tui.tui.screens.app_commands import cannot_index, no_index_run, show_mode, start_index, stop_index
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.messages import OpenReview, ReadEpisode
from cm_tui.tui.screens.question import confirm
from cm_tui.tui.screens.skipped_files import list_skipped


def _open_already(screen: OverviewView) -> str | None:
    return None if screen.cm.project.engine == "failed" else "the project is open"


def _cannot_rebuild(screen: OverviewView) -> str | None:
    return screen.why_no_rebuild


def _nothing_skipped(screen: OverviewView) -> str | None:
    view = screen.cm.project
    known = view.status or view.plan
    if view.engine != "open":
        return "the project is not open"
    return None if known and known.skipped else "no files were skipped"


def _nothing_stale(screen: OverviewView) -> str | None:
    view = screen.cm.project
    if view.engine != "open":
        return "the project is not open"
    return None if view.status and view.status.stale else "no memory names missing code"


def _no_work(screen: OverviewView) -> str | None:
    state = screen.work
    if state is None or not state.session:
        return "no session of the last 7 days is recorded"
    return None if state.episode else "its first turn is still under way: it is listed once that ends"


def read_work(screen: OverviewView) -> None:
    """Show the last session in Episodes."""
    if screen.work is not None:
        screen.post_message(ReadEpisode(screen.work.episode, screen.work.session))


def review_stale(screen: OverviewView) -> None:
    """Show the memories that name missing code in Review."""
    screen.post_message(OpenReview("kind:outdated"))


def reopen(screen: OverviewView) -> None:
    """Try the engine again."""
    screen.cm.lifecycle.reopen()


def ask_rebuild(screen: OverviewView) -> None:
    """Rebuild the index after a confirmation."""
    question = "Delete this project's index and rebuild it? Nothing else changes."
    confirm(screen, question, "Rebuild", lambda: _rebuild(screen))


def _nothing_to_import(screen: OverviewView) -> str | None:
    if screen.cm.project.importing:
        return "sessions are being imported"
    if screen.cm.session_import.looking:
        return "past sessions are still being looked for; the offer stands under Next once some are found"
    return None if screen.cm.project.engine == "open" else "the project is not open"


def _no_import(screen: OverviewView) -> str | None:
    return None if screen.cm.project.importing else "no session is being imported or copied"


def _cannot_rescue(screen: OverviewView) -> str | None:
    if screen.cm.project.importing:
        return "sessions are being imported or copied"
    return None if screen.cm.project.engine == "open" else "the project is not open"


def rescue(screen: OverviewView) -> None:
    """Keep copies of agents' transcripts, after a question."""
    number = screen.cm.project.expiring
    soon = (
        f"{count(number, 'session')} on this machine {noun(number, 'is', 'are')} deleted by the agent within 5 days. "
    )
    question = (
        f"{soon if number else ''}Keep private copies of the transcripts of all projects, compressed, in cm's own folder? "
        "What is never recorded is not copied; nothing of the agents' is changed."
    )
    confirm(screen, question, "Keep copies", screen.cm.session_import.rescue)


def import_sessions(screen: OverviewView) -> None:
    """Record past sessions of agents; where none are known, look once more."""
    if screen.cm.project.sessions_to_import:
        screen.cm.session_import.start()
        return

    def looked() -> None:
        plan = screen.cm.project.imports
        if plan is not None and plan.new:
            screen.cm.session_import.start()
        else:
            screen.cm.refuse("Import: no past session was found that is not imported")

    screen.cm.report("Looking for past sessions…")
    screen.cm.session_import.look_again(looked, screen.cm.tell_error)


def stop_import(screen: OverviewView) -> None:
    """Stop recording past sessions."""
    screen.cm.session_import.stop()


def _rebuild(screen: OverviewView) -> None:
    """Rebuild the index; move a damaged store aside first."""
    if screen.cm.project.engine == "open":
        screen.cm.lifecycle.start_rebuild()
    else:
        screen.cm.lifecycle.repair_and_reopen()


OVERVIEW_COMMANDS: tuple[Command[OverviewView], ...] = (
    Command("overview.search", "enter,slash", "Search", "Ask the code", show_mode("search")),
    Command("overview.index", "i", "Update", "Index what changed", start_index, blocked=cannot_index),
    Command("overview.stop", "x", "Stop", "Stop the index run; go on with i", stop_index, blocked=no_index_run),
    Command("overview.skipped", "s", "Skipped", "List the files that are not indexed", list_skipped,
            blocked=_nothing_skipped),
    Command("overview.stale", "t", "Stale", "Review memories that name missing code", review_stale, bar=False,
            blocked=_nothing_stale),
    Command("overview.work", "w", "Last session", "Where you left off: read the last session in Episodes", read_work,
            bar=False, blocked=_no_work),
    Command("overview.rebuild", "b", "Rebuild", "Delete the index and rebuild it", ask_rebuild,
            blocked=_cannot_rebuild),
    Command("overview.import", "m", "Import", "Record past sessions of coding agents", import_sessions,
            bar=False, blocked=_nothing_to_import),
    Command("overview.stop-import", "M", "Stop the import", "What was recorded is kept; m goes on", stop_import,
            bar=False, blocked=_no_import),
    Command("overview.rescue", "R", "Keep copies", "Copy the transcripts of all projects before agents delete them",
            rescue, bar=False, blocked=_cannot_rescue),
    Command("overview.retry", "r", "Try again", "Open the project once more", reopen, bar=False,
            blocked=_open_already),
)  # fmt: skip


class OverviewScreen(OverviewView, commands=OVERVIEW_COMMANDS):
    """The project and its index at a glance."""

    MODE = "overview"
    INTRO = (
        "What cm knows about this project. A project is indexed by itself when it is opened; keyword and symbol "
        "queries answer as soon as its files are parsed, vectors fill in behind."
    )
