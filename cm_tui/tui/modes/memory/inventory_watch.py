"""Asks what there is, again while others write, and never so often that it costs more than a little."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.tui.modes.memory.inventory import Inventory, read_inventory
from cm_tui.tui.modes.memory.query import MemoryFilter
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

LOOK_SHARE = 20
"""Looking takes one part in so many of the time that passes, at most."""


class InventoryWatch:
    """Keeps what fits a filter.

    Args:
        ask: asks the engine.
        changed: called when there is something else than before.
        failed: gets what went wrong; the same thing once, until it was mended.
        every: seconds between two looks, where they are answered quickly.
    """

    def __init__(
        self, ask: Ask, changed: Callable[[Inventory], None], failed: Callable[[CmError], None], every: float
    ) -> None:
        self._ask = ask
        self._changed = changed
        self._failed = failed
        self._every = every
        self._limits: dict[str, int] = {}
        self._is_reading = False
        self._failure = ""
        self._due = 0.0
        self.where = MemoryFilter()
        self.found: Inventory | None = None
        """What fits; None: nothing was read yet."""

    def filter_by(self, where: MemoryFilter, *, delay: float = 0.0) -> None:
        """Ask for what fits a filter."""
        if where != self.where:
            self.where = where
            self._limits.clear()
        self.read(delay=delay)

    def look(self, *, due: bool = False) -> None:
        """Ask whether something was written meanwhile, where it is time to, and no answer is on its way."""
        if self.found is not None and not self._is_reading and (due or time.monotonic() >= self._due):
            self.read()

    def read(self, *, delay: float = 0.0) -> None:
        """Ask for the same once more, as far as it was read."""
        where, limits, began = self.where, dict(self._limits), time.monotonic()
        self._is_reading = True

        def call(engine: Engine) -> Inventory:
            return read_inventory(engine, where, limits)

        def got(found: Inventory) -> None:
            self._is_reading, self._failure = False, ""
            took = time.monotonic() - began - delay
            self._due = time.monotonic() + max(0.0, LOOK_SHARE * took - self._every)
            before, self.found = self.found, found
            if not found.is_same(before):
                self._changed(found)

        def failed(error: CmError) -> None:
            self._is_reading = False
            if str(error) != self._failure:
                self._failure = str(error)
                self._failed(error)

        self._ask("inventory", call, got, failed, delay=delay)

    def read_on(self, group: str, many: int) -> None:
        """Load a group up to the visible rows and well beyond."""
        pages = self.found.pages if self.found is not None else ()
        page = next((page for page in pages if page.group.key == group), None)
        if page is not None and len(page.items) < page.total:
            self._limits[group] = min(page.total, max(4 * len(page.items), many + len(page.items)))
            self.read()
