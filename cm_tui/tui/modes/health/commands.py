"""The commands of the health mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.tui.screens.commands import Command

if TYPE_CHECKING:
    from cm_tui.tui.modes.health.screen import HealthScreen


def _not_now(screen: HealthScreen) -> str | None:
    if screen.cm.project.engine != "open":
        return "the project is not open"
    return "an index run is on its way" if screen.cm.tasks.indexing else None


def _no_job(screen: HealthScreen) -> str | None:
    return None if screen.active_jobs else "no job is running or waiting"


def _cannot_install(screen: HealthScreen) -> str | None:
    if not screen.hooks_state:
        return "there is no git repository, or it is not known yet"
    return "the hooks are installed" if screen.hooks_state == "on" else None


def _cannot_remove(screen: HealthScreen) -> str | None:
    if not screen.hooks_state:
        return "there is no git repository, or it is not known yet"
    return "no hooks are installed" if screen.hooks_state == "off" else None


HEALTH_COMMANDS: tuple[Command, ...] = (
    Command("health.check", "r", "Check again", "Run all checks again", "check"),
    Command("health.index", "i", "Update", "Index what changed", "start_index", blocked=_not_now),
    Command("health.cancel", "c", "Cancel job", "Choose a job of any project and stop it", "cancel_job", blocked=_no_job),
    Command("health.hooks", "g", "Git hooks", "Add cm's block to git's hooks, after a question", "install_hooks",
            blocked=_cannot_install),
    Command("health.no-hooks", "G", "Remove hooks", "Take cm's block out of git's hooks, after a question",
            "remove_hooks", shown_as="G", bar=False, blocked=_cannot_remove),
    Command("health.full", "f", "Full", "Read every file again", "start_full_index", blocked=_not_now),
    Command("health.rebuild", "b", "Build anew", "Throw the index away and make it again", "rebuild", blocked=_not_now),
    Command("health.skipped", "s", "Left out", "List the files that are not indexed", "show_skipped", blocked=_not_now),
    Command("health.reset", "X", "Reset", "Remove the index of this project", "reset", shown_as="X", blocked=_not_now),
)  # fmt: skip
