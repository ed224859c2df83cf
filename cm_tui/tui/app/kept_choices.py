"""What the next run finds again: the mode, what each mode keeps, and the pack, which other applications change as well."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from cm_tui.errors import CmError
from cm_tui.tui.screens.messages import PackSelectionChanged
from cm_tui.tui.screens.mode_app import ModeApp
from cm_tui.tui.state.change_history import own_change
from cm_tui.tui.state.pack_selection import Items, PackChange, PackFile, PackSelection, merged, readable
from cm_tui.tui.state.remembered import AppState, load_state, save_state
from cm_tui.tui.tasks.ask import Fail, as_cm_error
from cm_tui.tui.tasks.engine_tasks import EngineTasks

EVERY = 1.0
"""Seconds between looks at what other applications did."""

Work = Callable[[Callable[[], "Items | CmError"], Callable[["Items | CmError"], None]], None]


@dataclass
class PackSync:
    """Exchanges changes of the pack with other applications, one exchange at a time.

    Args:
        selection: the pack on screen.
        file: the pack of the project.
        work: runs the first function on a worker thread, the second with its answer on the application's.
        failed: called with the error when the pack cannot be saved, once until it can be saved again.
    """

    _selection: PackSelection
    _file: PackFile
    _work: Work
    _failed: Fail
    _base: Items = ()
    """The pack after the last exchange."""
    _stamp: object = None
    _busy: bool = False
    _broken: bool = False

    def begin(self, remembered: Items) -> None:
        """Load the pack of the project; before any application wrote one, what was remembered from an earlier run."""
        self._stamp = self._file.stamp()
        found = self._file.read()
        self._base = found or ()
        self._selection.take(remembered if found is None else found)

    def look(self) -> None:
        """Load the changes of other applications, if there are any."""
        if self._selection.items != self._base or self._file.stamp() != self._stamp:
            self.exchange()

    def exchange(self) -> None:
        """Write the changes made here, and load those of other applications."""
        if self._busy:
            return
        self._busy = True
        base, mine = self._base, self._selection.items
        self._stamp = self._file.stamp()

        def call() -> Items | CmError:
            try:
                return self._file.exchange(base, mine)
            except (CmError, OSError) as error:
                return as_cm_error(error)

        self._work(call, partial(self._got, mine))

    def _got(self, mine: Items, answer: Items | CmError) -> None:
        self._busy = False
        if isinstance(answer, CmError):
            if not self._broken:
                self._failed(answer)
            self._broken = True
            return
        self._broken = False
        self._base = answer
        self._selection.take(merged(mine, self._selection.items, answer))
        if self._selection.items != self._base:
            self.exchange()

    def flush(self) -> None:
        """Write the changes made here at once, on this thread: the last chance before the end.

        Raises:
            CmError: another process holds the pack.
            OSError: it cannot be written.
        """
        if self._selection.items != self._base:
            self._base = self._file.exchange(self._base, self._selection.items)


DELAY = 0.3
"""Seconds from a change until it is written; what changes meanwhile is written with it."""


@dataclass
class StateWriter:
    """Takes word of changes, and writes the state when it differs from what was written last.

    Args:
        root: the project's root folder.
        gather: brings the state up to date; called on the application's thread.
        set_timer: calls a function after some seconds, on the application's thread.
        off_thread: runs a function on a worker thread.
        failed: called with the error when a state could not be written, on the writing thread.
    """

    _root: Path
    _gather: Callable[[], AppState]
    _set_timer: Callable[[float, Callable[[], None]], object]
    _off_thread: Callable[[Callable[[], None]], None]
    _failed: Callable[[OSError], None]
    _due: bool = False
    _next: AppState | None = None
    _written: AppState | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def changed(self) -> None:
        """Something may have changed: write it soon."""
        if not self._due:
            self._due = True
            self._set_timer(DELAY, self._time_has_come)

    def _time_has_come(self) -> None:
        self._due = False
        self._take()
        self._off_thread(self._write)

    def flush(self) -> None:
        """Write at once, on this thread: the last chance before the end."""
        self._take()
        self._write()

    def _take(self) -> None:
        # A copy: the worker must not read what the application goes on to change.
        self._next = AppState(**asdict(self._gather()))

    def _write(self) -> None:
        """Write the newest state; of two workers the later one finds nothing left to do."""
        with self._lock:
            state, self._next = self._next, None
            if state is None or state == self._written:
                return
            try:
                save_state(self._root, state)
            except OSError as error:
                self._failed(error)
            else:
                self._written = state


class SavedChoices:
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
        self.pack_selection = PackSelection(self._pack_changed, self._report_pack, self._note_pack_change)
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
        undo, redo = partial(self.pack_selection.undo, change), partial(self.pack_selection.redo, change)
        self._app.history.add(own_change(change.words, self._app.current_mode, change.about, undo, redo))

    def _pack_changed(self) -> None:
        self._pack_sync.exchange()
        self.writer.changed()
        self._report_pack()

    def _report_pack(self) -> None:
        self._app.modes.broadcast(PackSelectionChanged)
