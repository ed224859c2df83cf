"""What the next run finds again: the mode, what each mode keeps, and the pack, which other applications change as well."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.tui.app.state_writer import StateWriter
from cm_tui.tui.screens.messages import PackSelectionChanged
from cm_tui.tui.state.change_history import Finish, UndoableChange
from cm_tui.tui.state.pack_file import PackFile
from cm_tui.tui.state.pack_selection import PackChange, PackSelection, readable
from cm_tui.tui.state.remembered import AppState, load_state
from cm_tui.tui.tasks.engine_tasks import EngineTasks
from cm_tui.tui.tasks.pack_sync import EVERY, PackSync

if TYPE_CHECKING:
    from cm_tui.tui.app.mode_app import ModeApp


class KeptChoices:
    """Reads what was kept, and writes it a moment after something of it changed.

    Args:
        app: whose modes they are.
        root: the project's root folder.
        tasks: does what is slow.
    """

    def __init__(self, app: ModeApp, root: Path, tasks: EngineTasks) -> None:
        self._app = app
        self._tasks = tasks
        self.state, self.note = load_state(root)
        self.pack_selection = PackSelection(self._pack_changed, self._tell_of_pack, self._note_pack_change)
        self.writer = StateWriter(root, self._gather, app.set_timer, self._off_thread, self._not_saved)
        self._pack_sync = PackSync(
            self.pack_selection, PackFile(root), partial(tasks.work, topic="app.pack"), app.tell_error
        )
        # Earlier versions kept the pieces with everything else that is remembered.
        self._pack_sync.begin(readable(self.state.of("pack").pop("items", None)))

    def begin(self, every: Callable[[float, Callable[[], None]], object]) -> None:
        """Look from now on what other applications make of the pack.

        Args:
            every: calls a function again and again, after so many seconds each time.
        """
        every(EVERY, self._pack_sync.look)

    def flush(self) -> None:
        """Write everything at once: the last chance before the end."""
        with suppress(OSError, CmError):
            self._pack_sync.flush()
        self.writer.flush()

    def _gather(self) -> AppState:
        self.state.mode = self._app.current_mode
        for screen in self._app.modes.shown():
            # While the application ends, its screens lose their parts one by one.
            if screen.restored and self._app.is_running:
                screen.keep()
        return self.state

    def _off_thread(self, write: Callable[[], None]) -> None:
        self._tasks.work(write, lambda _: None, topic="app.state")

    def _not_saved(self, error: OSError) -> None:
        self._app.log(f"State not saved: {error}")

    def _note_pack_change(self, change: PackChange) -> None:
        def undo(_: object, finish: Finish) -> None:
            self.pack_selection.undo(change)
            finish("")

        def redo(_: object, finish: Finish) -> None:
            self.pack_selection.redo(change)
            finish("")

        mode = self._app.current_mode
        self._app.history.add(UndoableChange(change.words, mode, undo, redo, change.about))

    def _pack_changed(self) -> None:
        self._pack_sync.exchange()
        self.writer.changed()
        self._tell_of_pack()

    def _tell_of_pack(self) -> None:
        self._app.modes.broadcast(PackSelectionChanged)
