"""The application: modes, theme, keys, the way between engine and screens, and what runs all of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from cm_tui.config import Config
from cm_tui.counts import count
from cm_tui.model import Need
from cm_tui.tui.app.kept_choices import SavedChoices
from cm_tui.tui.app.settings_in_force import SettingsInForce
from cm_tui.tui.screens.app_dialogs import ask_if_moved
from cm_tui.tui.screens.commands import Command
from cm_tui.tui.screens.messages import AddToPack, OpenEpisode
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.screens.small_lists import CommandPalette, choose_theme
from cm_tui.tui.screens.trust_dialog import ask_if_undecided
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.tasks.ask import Engine
from cm_tui.tui.tasks.background_runs import NarratorRun, SessionImport
from cm_tui.tui.tasks.daemon_sync import DaemonSync
from cm_tui.tui.tasks.engine_tasks import EngineFailed, EngineOpened, EngineTasks
from cm_tui.tui.tasks.long_tasks import Answer, RunEnded, RunStep
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle
from cm_tui.tui.tasks.watches import EVERY, RevisionTracker, head_watch, recording_watch


class CmApp(ModeApp):
    """The full-screen application over one project.

    Args:
        open_engine: opens the engine; called on a worker thread.
        root: the project's root folder.
        config: the configuration.
        repair: puts a damaged store out of the way, so that the engine opens again; None: not possible.
        startup_notes: what opening the engine has to say to the user; taken out once it was said.
        episode: name of an episode whose revision is shown, once the index reflects the checkout.
        settings_root: the folder whose `.cm` holds the project's settings; `root` when not given.
    """

    TITLE = "cm"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 - declared so by Textual
    COMMANDS: ClassVar = {CommandPalette}
    COMMAND_PALETTE_BINDING = "ctrl+p"
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        root: Path,
        config: Config,
        repair: Callable[[], None] | None = None,
        startup_notes: list[str] | None = None,
        episode: str = "",
        settings_root: Path | None = None,
    ) -> None:
        super().__init__()
        self._open_engine = open_engine
        self._startup_notes = startup_notes if startup_notes is not None else []
        self._episode = episode
        self.root = root
        self.next_project: Path | None = None
        """The folder of the project that the user left this one for."""
        self.unused_store: Path | None = None
        """The store that goes when this project is closed."""
        self.config = config
        self.project = ProjectView()
        self.tasks = EngineTasks(self, self._open, self.origin, self.changes_moved, self.commands_moved)
        self._kept = SavedChoices(self, root, self.tasks)
        self.state, self.state_writer = self._kept.state, self._kept.writer
        self.pack_selection = self._kept.pack_selection
        self.revision_tracker = RevisionTracker(self.tasks, self.revision, self.project, self.tell)
        work = self.tasks, self.project, self.activity_log, self._project_changed
        self.lifecycle = ProjectLifecycle(*work, repair)
        self.session_import = SessionImport(*work)
        self.narrator_run = NarratorRun(*work)
        self.daemon_sync = DaemonSync(*work, self.lifecycle, self)
        self._settings = SettingsInForce(self, settings_root or root)
        self._head_watch = head_watch(self.tasks, self.project, self._head_changed)
        self.recording_watch = recording_watch(self.tasks, self.project, lambda: self.config, self.modes.show_project)

    def _open(self) -> Engine:
        """Open the engine, on a worker thread; edited files are looked for with each request that should reflect them."""
        from cm_tui.daemon.open_engine import with_check

        def check(need: Need) -> str:
            if need == "files":
                self.post_message(Answer("", 0, self.lifecycle.follow_edits))
            return ""

        return with_check(self._open_engine(), check)

    # --- the beginning and the end ---

    def on_mount(self) -> None:
        """Theme and keys, then the engine, in the background."""
        self._settings.begin()
        self.theme_changed_signal.subscribe(self, lambda _: self._settings.theme_chosen())
        mode = "history" if self._episode else self.state.mode
        if mode in self.titles and mode != self.current_mode:
            self.switch_mode(mode)
        if self._kept.note:
            self.tell(self._kept.note, severity="warning")
        self._kept.begin(self.set_interval)
        self.set_interval(EVERY, self._head_watch.look)
        self.set_interval(EVERY, self.recording_watch.look)
        self.tasks.open()
        if not self.is_headless and sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self._end, 128 + number)
            self.set_interval(EVERY, self._end_without_terminal)

    def on_unmount(self) -> None:
        """Ask work to stop; the caller of the application waits for it, after the screen is gone."""
        self.tasks.stop()

    def remember(self) -> None:
        """Write what is remembered soon: something of it may have changed."""
        self.state_writer.changed()

    def leave(self) -> None:
        """Quit; a dialog with unsaved text asks first."""
        # Not by its class, whose import would delay the first frame.
        if leave_for := getattr(self.screen, "leave_for", None):
            leave_for(self._quit)
        else:
            self._quit()

    @property
    def defect(self) -> Exception | None:
        """Return the unexpected error that ended the application."""
        return self._exception

    def _fatal_error(self) -> None:
        """End after an unexpected error, which is reported as those of commands are.

        The library prints it with the values of all local variables, which may hold secrets or foreign text.
        """
        self._close_messages_no_wait()

    def _quit(self) -> None:
        self._end(0)

    def _end(self, code: int) -> None:
        """End without a question: what is remembered is saved, and the terminal gets its modes back."""
        self._kept.flush()
        self.exit(code, code)

    def _end_without_terminal(self) -> None:
        """End where the terminal is gone and no signal was sent: Textual would ask it for keys for ever."""
        if sys.__stdin__ is None or not sys.__stdin__.isatty():
            self._end(128 + signal.SIGHUP)

    def search_themes(self) -> None:
        """Choose a theme from a list that marks the current one, which Textual's does not."""
        choose_theme(self)

    def open_project(self, folder: Path, *, without: Path | None = None) -> None:
        """Leave this project for another one, which the caller of the application then opens.

        Args:
            folder: of the other one.
            without: folder of a store that is unused once this project is closed.
        """
        self.next_project, self.unused_store = folder, without
        self.leave()

    async def action_quit(self) -> None:
        """Textual's own way out, kept in step."""
        self.leave()

    # --- what modes send ---

    def on_add_to_pack(self, message: AddToPack) -> None:
        """Put lines into the pack, and say what came of it."""
        added = self.pack_selection.add(message.requests)
        first, *more = message.requests
        what = count(added, "piece") if more else first.title or first.path
        self.tell(f"Added to the pack: {what}" if added else f"Already in the pack: {what}", timeout=2)

    # --- engine ---

    def changes_moved(self) -> None:
        """A change begins or ends: the bottom line says so, and other things may wait for the person now."""
        self.commands_moved()
        if self.tasks.change_in_progress is None:
            self.lifecycle.count_waiting(again=True)

    def on_answer(self, message: Answer) -> None:
        """Deliver the result of a request; drop outdated results, and all of them at exit."""
        if not message.topic or (self.is_running and self.tasks.is_latest(message.topic, message.request)):
            self.answering = message.origin
            try:
                message.deliver()
            finally:
                self.answering = None

    def on_engine_opened(self, message: EngineOpened) -> None:
        """The project can be asked now."""
        if message.again:
            # No index run by itself: it would fail again, as long as there is no room.
            self.tasks.start_waiting()
            self.tell("The index was reopened after a failed write. Repeat the failed action.", severity="warning")
            return
        self.lifecycle.opened(partial(ask_if_moved, self))
        self.daemon_sync.begin()
        self.recording_watch.look()
        ask_if_undecided(self)
        while self._startup_notes:
            self.tell(self._startup_notes.pop(0), severity="warning")

    def on_engine_failed(self, message: EngineFailed) -> None:
        """The overview shows why, with the keys that help."""
        self.lifecycle.failed(message.error)
        if self.current_mode not in {"overview", "health"}:
            self.go("overview")

    def on_run_step(self, message: RunStep) -> None:
        """Show the progress of a long run."""
        {
            "index": self.lifecycle.stepped, "history": self.lifecycle.history_stepped,
            "import": self.session_import.stepped, "narrate": self.narrator_run.stepped,
        }[message.kind](message.progress)  # fmt: skip
        if message.kind == "index" and self.project.plan is not None:
            # A first run may take minutes; importing sessions does not wait for it.
            self.session_import.look()

    def on_run_ended(self, message: RunEnded) -> None:
        """A long run has ended."""
        if message.kind == "index":
            self._index_ended(message)
        elif message.kind == "history":
            self.lifecycle.history_ended(message)
        elif words := (self.session_import if message.kind == "import" else self.narrator_run).ended(message):
            self.tell(words)
        elif message.error is not None and not message.cancelled:
            self.tell_error(message.error)

    def _index_ended(self, message: RunEnded) -> None:
        if words := self.lifecycle.ended(message):
            self.report(words)
        self.daemon_sync.own_run_ended()
        self.session_import.look()
        if self._episode:
            self.post_message(OpenEpisode(self._episode))
            self._episode = ""
        if self.project.index_error and self.current_mode != "overview":
            self.tell_error(self.project.index_error)

    def _project_changed(self) -> None:
        self.revision_tracker.check()
        self.lifecycle.count_waiting()
        self.modes.show_project()

    def _head_changed(self) -> None:
        """Another branch or commit is checked out: the header says so at once, and the state is asked for."""
        self.lifecycle.refresh_status()
        self._project_changed()

    # --- keys ---

    def keys_of(self, command: Command[Any], *, typing: bool = False) -> str:
        """The key of a command as it is now, written for people; with `typing` one that works in an input."""
        return self._settings.keymap.shown(command, self.current_mode, typing=typing)


INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
QUIET_SECONDS = 0.3
"""Seconds that the shell may take to come back without a word."""


def finish(tasks: EngineTasks) -> None:
    """Wait for the current step and close the store; report on stderr if that takes a while.

    Ctrl-C ends the process at once; the store recovers when it is opened next.
    """
    closing = threading.Thread(target=tasks.close, name="cm-close")
    try:
        closing.start()
        closing.join(QUIET_SECONDS)
        if closing.is_alive():
            _say("finishing the current step; Ctrl-C quits at once…")
            closing.join()
    except KeyboardInterrupt:
        _say("quit before the step was done; the next run repeats it.")
        # Not by an exception: Python would wait for the threads that are to be left.
        os._exit(INTERRUPTED)


def _say(words: str) -> None:
    sys.stderr.write(f"cm: {words}\n")
    sys.stderr.flush()


def run(app: CmApp) -> int:
    """Run the application until the user leaves it; `app.next_project` is then what the user left it for.

    Returns:
        The exit code.

    Raises:
        Exception: a defect that ended the application.
    """
    try:
        app.run()
    finally:
        finish(app.tasks)
    if app.defect is not None:
        raise app.defect
    if app.unused_store is not None:
        from cm_tui.daemon.open_engine import remove

        remove(app.unused_store)
    return app.return_code or 0
