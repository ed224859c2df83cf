"""What a mode may use of the application."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

from textual.app import App

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.state.change_history import ChangeHistory
from cm_tui.tui.state.pack_selection import PackSelection
from cm_tui.tui.state.project import ActivityLog, ProjectView
from cm_tui.tui.state.remembered import AppState
from cm_tui.tui.state.revision import ShownRevision
from cm_tui.tui.tasks.background_runs import NarratorRun, SessionImport
from cm_tui.tui.tasks.daemon_sync import DaemonSync
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle

Severity = Literal["information", "warning", "error"]


class AppServices(Protocol):
    """The application as modes and their commands see it."""

    root: Path
    config: Config
    titles: Mapping[str, str]
    """What each mode is called, in the order of the tabs."""

    project: ProjectView
    activity_log: ActivityLog
    history: ChangeHistory
    pack_selection: PackSelection
    revision: ShownRevision
    state: AppState

    running_command: str
    """Label of the command that a key has just asked for, while it runs."""

    tasks: EngineTasks
    lifecycle: ProjectLifecycle
    daemon_sync: DaemonSync
    session_import: SessionImport
    narrator_run: NarratorRun

    @property
    def app(self) -> App[Any]:
        """The same, as Textual sees it."""

    @property
    def current_mode(self) -> str:
        """The mode on screen."""

    def go(self, mode: str) -> None:
        """Show a mode."""

    def go_to_now(self) -> None:
        """Show no past revision any more."""

    def stop_index(self) -> None:
        """Stop the index run, even one of another client."""

    def edit(self, path: str, line: int) -> None:
        """Open a file of the project in the user's editor."""

    def remember(self) -> None:
        """Write what is remembered soon: something of it may have changed."""

    def tell(self, text: str, *, title: str = "", severity: Severity = "information", timeout: float = 4) -> None:
        """Show a short message."""

    def refuse(self, text: str) -> None:
        """Show in the bottom line why something is not done."""

    def report(self, text: str) -> None:
        """Show in the bottom line what was done."""

    def refuses_late(self) -> bool:
        """Return whether what is being handed over was asked for on another screen, and say so."""

    def clear_notice(self) -> None:
        """Remove the notice from the bottom line."""

    def show_undone(self) -> None:
        """Have every mode show what there is now: the engine undid or redid a change."""

    @property
    def bottom_line(self) -> tuple[str, str]:
        """Return what the bottom line says before the keys, and its style: what is being done, or why something is not."""

    def tell_error(self, error: CmError) -> None:
        """Show an error with its hint."""

    def keys_of(self, command: Command[Any], *, typing: bool = False) -> str:
        """Return the key of a command as it is now, written for people; with `typing` one that works in an input."""

    def show_trust(self) -> None:
        """Show which settings, files of definitions and entries of the repository are trusted or held back."""

    def pause_recording(self) -> None:
        """Stop recording what agents do after a question, or go on."""

    def choose_project(self) -> None:
        """Choose another project from a list, and open it."""

    def open_project(self, folder: Path, *, without: Path | None = None) -> None:
        """Leave this project for another one, and remove a store that becomes unused."""

    def leave(self) -> None:
        """Quit."""
