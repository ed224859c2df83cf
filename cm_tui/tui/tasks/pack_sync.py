"""Keeps the pack on screen and the pack of the project one and the same, whatever applications change it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cm_tui.errors import CmError
from cm_tui.tui.state.pack_selection import Items, PackFile, PackSelection, merged
from cm_tui.tui.tasks.ask import as_cm_error

EVERY = 1.0
"""Seconds between looks at what other applications did."""

Work = Callable[[Callable[[], "Items | CmError"], Callable[["Items | CmError"], None]], None]


class PackSync:
    """Hands over what was done here, and takes up what was done elsewhere; one exchange at a time.

    Args:
        selection: the pack on screen.
        file: the pack of the project.
        work: runs the first function on a worker thread, the second with its answer on the application's.
        failed: called with the error when the pack cannot be saved, once until it can be saved again.
    """

    def __init__(self, selection: PackSelection, file: PackFile, work: Work, failed: Callable[[CmError], None]) -> None:
        self._selection = selection
        self._file = file
        self._work = work
        self._failed = failed
        self._base: Items = ()
        """The pack after the last exchange."""
        self._stamp: object = None
        self._busy = False
        self._broken = False

    def begin(self, remembered: Items) -> None:
        """Take up the pack of the project; before any application wrote one, what was remembered from an earlier run."""
        self._stamp = self._file.stamp()
        found = self._file.read()
        self._base = found or ()
        self._selection.take(remembered if found is None else found)

    def look(self) -> None:
        """Take up what others did, if there is anything."""
        if self._selection.items != self._base or self._file.stamp() != self._stamp:
            self.exchange()

    def exchange(self) -> None:
        """Hand over what was done here, and take up what others did."""
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
        """Hand over what was done here at once, on this thread: the last chance before the end.

        Raises:
            CmError: another process holds the pack.
            OSError: it cannot be written.
        """
        if self._selection.items != self._base:
            self._base = self._file.exchange(self._base, self._selection.items)
