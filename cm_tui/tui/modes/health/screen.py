"""Health: daemon, jobs, freshness, checks, index contents, log, and repairs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cm_tui.tui.modes.health.daemon_texts import job_line
from cm_tui.tui.modes.health.hooks import change_hooks
from cm_tui.tui.modes.health.view import HealthView
from cm_tui.tui.screens.app_commands import cannot_index, start_index
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.list_dialog import ListDialog
from cm_tui.tui.screens.question import Option, ask, confirm
from cm_tui.tui.screens.skipped_files import list_skipped
from cm_tui.tui.widgets.text import count

if TYPE_CHECKING:
    from cm_tui.daemon.jobs import JobRecord


def _no_job(screen: HealthView) -> str | None:
    return None if screen.active_jobs else "no job is running or waiting"


def _cannot_install(screen: HealthView) -> str | None:
    if not screen.hooks_state:
        return "there is no git repository, or it is not known yet"
    return "the hooks are installed" if screen.hooks_state == "on" else None


def _cannot_remove(screen: HealthView) -> str | None:
    if not screen.hooks_state:
        return "there is no git repository, or it is not known yet"
    return "no hooks are installed" if screen.hooks_state == "off" else None


def cancel_job(screen: HealthView) -> None:
    """Choose a job and ask it to stop."""
    title, hint = f" {count(len(screen.active_jobs), 'job')} ", " ⏎ cancels it; what is done is kept · esc closes "

    def cancel(job: JobRecord) -> None:
        screen.cm.daemon_sync.cancel(job.id)

    ask(screen, ListDialog(title, hint, screen.active_jobs, job_line, cancel, close="q,n", choose="c,y", look="jobs"))


def install_hooks(screen: HealthView) -> None:
    """Ask, then add our block to git's hooks."""
    question = (
        "Add cm's block to git's post-checkout, -merge, -rewrite, -commit and -applypatch hooks? Hooks that are there "
        "go on working; git never waits or fails."
    )
    confirm(screen, question, "Install", lambda: change_hooks(screen, "install"))


def remove_hooks(screen: HealthView) -> None:
    """Ask, then take our block out again."""
    question = "Take cm's block out of git's hooks? What was there before is back byte for byte."
    confirm(screen, question, "Remove", lambda: change_hooks(screen, "uninstall"))


def index_in_full(screen: HealthView) -> None:
    """Read every file again."""
    screen.cm.lifecycle.start_full_index()


def rebuild(screen: HealthView) -> None:
    """Rebuild the index after a confirmation."""
    question = "Delete the index and rebuild it? It contains no data of your own; it takes as long as the first run."
    confirm(screen, question, "Rebuild", screen.cm.lifecycle.start_rebuild)


def reset(screen: HealthView) -> None:
    """Ask, also whether what agents' sessions recorded stays, then remove the index."""
    # Where the episodes cannot be counted, they are not offered.
    screen.ask(
        "reset", lambda engine: engine.episodes(limit=1).total, partial(_ask_reset, screen), lambda _: _ask_reset(screen, 0)
    )  # fmt: skip


def _ask_reset(screen: HealthView, episodes: int) -> None:
    def drop_all() -> None:
        question = f"Drop {recorded} for good? An index can be made again, what agents recorded cannot."
        confirm(screen, question, "Remove both", lambda: _remove(screen, drop_episodes=True))

    question, recorded = f"Remove the index of {screen.cm.root}? The files of the project stay as they are.", ""
    if episodes:
        recorded = count(episodes, "episode")
        question += f"\n\nAgents' sessions recorded {recorded}: they stay, and the next index has them again."
    others = [Option("Episodes too", "d", drop_all)] if episodes else []
    confirm(screen, question, "Remove it", lambda: _remove(screen, drop_episodes=False), others=others)


def _remove(screen: HealthView, *, drop_episodes: bool) -> None:
    said = "The index and the episodes were removed" if drop_episodes else "The index was removed"

    def removed(_: None) -> None:
        screen.cm.activity_log.add(f"{said}.", "ok")
        screen.cm.tell(f"{said}; i makes a new one.")
        screen.cm.lifecycle.refresh_status()

    screen.ask("reset", lambda engine: engine.reset(drop_episodes=drop_episodes), removed)


HEALTH_COMMANDS: tuple[Command[HealthView], ...] = (
    Command("health.check", "r", "Check again", "Run all checks again", HealthView.check),
    Command("health.index", "i", "Update", "Index what changed", start_index, blocked=cannot_index),
    Command("health.cancel", "c", "Cancel job", "Choose a job of any project and stop it", cancel_job, blocked=_no_job),
    Command("health.hooks", "g", "Git hooks", "Add cm's block to git's hooks; asks first", install_hooks,
            blocked=_cannot_install),
    Command("health.no-hooks", "G", "Remove hooks", "Remove cm's block from git's hooks; asks first",
            remove_hooks, shown_as="G", bar=False, blocked=_cannot_remove),
    Command("health.full", "f", "Full", "Read every file again", index_in_full, blocked=cannot_index),
    Command("health.rebuild", "b", "Rebuild", "Delete the index and rebuild it", rebuild,
            blocked=cannot_index),
    Command("health.skipped", "s", "Skipped", "List the files that are not indexed", list_skipped,
            blocked=cannot_index),
    Command("health.reset", "X", "Reset", "Remove the index of this project", reset, shown_as="X",
            blocked=cannot_index),
)  # fmt: skip


class HealthScreen(HealthView, commands=HEALTH_COMMANDS):
    """Check the installation and the index."""

    MODE = "health"
    INTRO = (
        "The daemon, its jobs and its log; each layer that keeps the index fresh, and what is behind; checks of the "
        "installation, with fixes; what the index contains; files that were not read in full; and what this session did."
    )
