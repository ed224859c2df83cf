"""The application: modes, theme, keys, and the way between engine and screens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cm_tui.config import Config
from cm_tui.errors import CmError
from cm_tui.tui.app.mode_app import ModeApp
from cm_tui.tui.app.state_writer import StateWriter
from cm_tui.tui.screens.app_services import AppServices
from cm_tui.tui.screens.commands import Command, key_name
from cm_tui.tui.screens.messages import (
    AddToPack,
    OpenEpisode,
    PackSelectionChanged,
    ProjectChanged,
)
from cm_tui.tui.screens.mode_screen import ModeScreen
from cm_tui.tui.screens.palette import CommandPalette
from cm_tui.tui.state.former_names import current_keys, former_keys
from cm_tui.tui.state.pack_selection import PackSelection
from cm_tui.tui.state.project import ProjectView
from cm_tui.tui.state.remembered import AppState, load_state
from cm_tui.tui.tasks.daemon_listener import DaemonEvent, JobEnded, JobStep
from cm_tui.tui.tasks.daemon_sync import DaemonSync
from cm_tui.tui.tasks.engine_tasks import EngineFailed, EngineTasks
from cm_tui.tui.tasks.long_run import HistoryEnded, HistoryStep, IndexEnded, IndexStep
from cm_tui.tui.tasks.project_lifecycle import ProjectLifecycle
from cm_tui.tui.tasks.revision_tracker import RevisionTracker
from cm_tui.tui.tasks.worker_threads import Answer
from cm_tui.tui.theme.themes import CM_DARK

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


class CmApp(ModeApp):
    """The full-screen application over one project.

    Args:
        open_engine: opens the engine; called on a worker thread.
        root: the project's root folder.
        config: the configuration.
        repair: puts a damaged store out of the way, so that the engine opens again; None: not possible.
        startup_notes: what opening the engine has to say to the user; taken out once it was said.
        episode: name of an episode whose revision is shown, once the index reflects the checkout.
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
    ) -> None:
        super().__init__()
        self._startup_notes = startup_notes if startup_notes is not None else []
        self._episode = episode
        self.root = root
        self.config = config
        self.project = ProjectView()
        self.pack_selection = PackSelection(self._pack_selection_changed)
        self.tasks = EngineTasks(self, open_engine)
        self.revision_tracker = RevisionTracker(self.tasks, self.revision, self.project, self.tell)
        self.lifecycle = ProjectLifecycle(self.tasks, self.project, self.activity_log, self._project_changed, repair)
        self.daemon_sync = DaemonSync(
            self.tasks, self.lifecycle, self.project, self.activity_log, app=self, changed=self._project_changed
        )
        self.state, self._state_note = load_state(root)
        self.state_writer = StateWriter(
            root, self._gather_state, self.set_timer, self._write_off_thread, self._state_not_saved
        )
        self.pack_selection.restore(self.state.of("pack").get("items"))
        self._key_overrides = current_keys(config.tui.keys)

    # --- the beginning and the end ---

    def on_mount(self) -> None:
        """Theme and keys, then the engine, in the background."""
        self.theme = self._first_theme()
        self.theme_changed_signal.subscribe(self, lambda _: self.remember())
        if self._key_overrides:
            self.set_keymap(self._key_overrides)
        mode = "history" if self._episode else self.state.mode
        if mode in self.titles and mode != self.current_mode:
            self.switch_mode(mode)
        for note in filter(None, (self._state_note, former_keys(self.config.tui.keys))):
            self.tell(note, severity="warning")
        self.tasks.open()

    def _first_theme(self) -> str:
        for name in (self.state.theme, self.config.tui.theme):
            if name and name in self.available_themes:
                return name
            if name:
                self.tell(f"There is no theme called {name}.", severity="warning")
        return CM_DARK.name

    def on_unmount(self) -> None:
        """Ask work to stop; waiting for it is left to whoever ran the application, as the screen is still there."""
        self.tasks.stop()

    def _gather_state(self) -> AppState:
        """What the next run should find again."""
        self.state.mode = self.current_mode
        self.state.theme = self.theme
        for screen in self.modes.shown():
            if screen.restored:
                screen.keep()
        return self.state

    def _write_off_thread(self, write: Callable[[], None]) -> None:
        self.tasks.work(write, lambda _: None, topic="app.state")

    def _state_not_saved(self, error: OSError) -> None:
        self.log(f"State not saved: {error}")

    def remember(self) -> None:
        """Write what is remembered soon: something of it may have changed."""
        self.state_writer.changed()

    def _pack_selection_changed(self) -> None:
        self.state.of("pack")["items"] = self.pack_selection.values()
        self.remember()
        self.modes.broadcast(PackSelectionChanged)

    def leave(self) -> None:
        """Quit."""
        self.state_writer.flush()
        self.exit(0)

    async def action_quit(self) -> None:
        """Textual's own way out, kept in step."""
        self.leave()

    # --- what modes send ---

    def on_add_to_pack(self, message: AddToPack) -> None:
        """Put lines into the pack, and say what came of it."""
        added = self.pack_selection.add(message.requests)
        what = message.requests[0].title or message.requests[0].path if len(message.requests) == 1 else f"{added} items"
        self.tell(f"Added to the pack: {what}" if added else f"Already in the pack: {what}", timeout=2)

    # --- engine ---

    def on_answer(self, message: Answer) -> None:
        """A request came back; one that is outdated, or that nobody is left to take at the end, is dropped."""
        if not message.topic or (self.is_running and self.tasks.is_latest(message.topic, message.request)):
            message.deliver()

    def on_engine_opened(self) -> None:
        """The project can be asked now."""
        self.lifecycle.opened()
        self.daemon_sync.begin()
        while self._startup_notes:
            self.tell(self._startup_notes.pop(0), severity="warning")

    def on_engine_failed(self, message: EngineFailed) -> None:
        """The overview shows why, with the keys that help."""
        self.lifecycle.failed(message.error)
        if self.current_mode not in {"overview", "health"}:
            self.go("overview")

    def on_index_step(self, message: IndexStep) -> None:
        """An index run got on."""
        self.lifecycle.stepped(message.progress)

    def on_index_ended(self, message: IndexEnded) -> None:
        """An index run is over."""
        self.lifecycle.ended(message)
        self.daemon_sync.own_run_ended()
        if self._episode:
            self.post_message(OpenEpisode(self._episode))
            self._episode = ""
        if self.project.index_error and self.current_mode != "overview":
            self.tell_error(self.project.index_error)

    def on_history_step(self, message: HistoryStep) -> None:
        """More of the history is known."""
        self.lifecycle.history_stepped(message.progress)

    def on_history_ended(self, message: HistoryEnded) -> None:
        """History is no longer being read."""
        self.lifecycle.history_ended(message)

    def on_daemon_event(self, message: DaemonEvent) -> None:
        """Another client did something, or the daemon came or went."""
        self.daemon_sync.on_event(message.record)

    def on_job_step(self, message: JobStep) -> None:
        """A run that another client started got on."""
        self.daemon_sync.stepped(message)

    def on_job_ended(self, message: JobEnded) -> None:
        """A run that another client started is over."""
        self.daemon_sync.ended(message)

    def stop_index(self) -> None:
        """Stop the index run, whoever started it."""
        if self.tasks.indexing:
            self.lifecycle.stop_index()
        elif self.project.job:
            self.daemon_sync.cancel(self.project.job)

    def _project_changed(self) -> None:
        self.revision_tracker.check()
        self.modes.broadcast(ProjectChanged)

    def edit(self, path: str, line: int) -> None:
        """Open a file of the project in the user's editor, over the whole terminal, and come back."""
        from cm_tui.tui.terminal.editor import edit_over

        root = self.tasks.engine.root if self.tasks.engine else self.root
        try:
            edit_over(self, root, path, line)
        except CmError as error:
            self.tell_error(error)
        else:
            self.refresh()
            self.lifecycle.start_index()

    # --- keys ---

    def keys_of(self, command: Command[Any]) -> str:
        """The key of a command as it is now, written for people."""
        keys = self._key_overrides.get(command.id, command.key)
        return command.shown_as or key_name(keys.split(",")[0])

    def show_help(self) -> None:
        """Help for the mode on screen."""
        if isinstance(self.screen, ModeScreen):
            self.push_screen(self.screen.help_screen())

    def show_palette(self) -> None:
        """Find a command by name."""
        self.action_command_palette()

    def choose_theme(self) -> None:
        """Choose a theme from a list."""
        self.search_themes()


if TYPE_CHECKING:

    def _services(app: CmApp) -> AppServices:
        """The type checker proves here that the application has all that modes use."""
        return app
