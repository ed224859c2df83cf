"""Keeps what fits the filter; what was just decided is shown as decided, whatever the engine has answered by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.tui.modes.review.inbox import PAGE, Inbox, Item, Key, key_of, read_inbox, state_of
from cm_tui.tui.modes.review.query import STATES, InboxFilter
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_ON_ITS_WAY = -1


class Stock:
    """Proposals as they are listed.

    Args:
        ask: asks the engine.
        changed: called when something else was read.
        failed: gets what went wrong; the same thing once, until it was mended.
    """

    def __init__(self, ask: Ask, changed: Callable[[], None], failed: Callable[[CmError], None]) -> None:
        self._ask = ask
        self._changed = changed
        self._failed = failed
        self._limit = PAGE
        self._failure = ""
        self._now = 0
        """Counts answers to decisions: what was read before one is older than it."""
        self._as_decided: dict[Key, tuple[Item | None, int]] = {}
        """Items as they are to be, None where they go, and when the engine had done it."""
        self._given_back: dict[Key, Item] = {}
        self.where = InboxFilter()
        self.found: Inbox | None = None
        """What was read; None: nothing yet."""
        self.refused: dict[Key, str] = {}
        """Why a decision could not be done: it is shown once more, as it is now."""

    # --- reading ---

    def filter_by(self, where: InboxFilter, *, delay: float = 0.0) -> None:
        """Ask for what fits a filter."""
        if where != self.where:
            self.where, self._limit = where, PAGE
        self.read(delay=delay)

    def read(self, *, delay: float = 0.0) -> None:
        """Ask for the same once more, as far as it was read."""
        where, limit = self.where, self._limit

        def call(engine: Engine) -> tuple[Inbox, int]:
            # Counted when it is asked, not before: decisions may be done while this one waits.
            began = self._now
            return read_inbox(engine, where, limit), began

        def got(told: tuple[Inbox, int]) -> None:
            self._failure = ""
            self.found, began = told
            self._given_back.clear()
            self._as_decided = {
                key: (item, done)
                for key, (item, done) in self._as_decided.items()
                if done == _ON_ITS_WAY or done > began
            }
            self._changed()

        def failed(error: CmError) -> None:
            if str(error) != self._failure:
                self._failure = str(error)
                self._failed(error)

        self._ask("inbox", call, got, failed, delay=delay)

    def read_on(self, many: int) -> None:
        """Load up to the visible rows and well beyond."""
        if self.found is not None and len(self.found.rows) < self.found.total:
            self._limit = min(self.found.total, max(4 * len(self.found.rows), many + PAGE))
            self.read()

    # --- what is listed ---

    @property
    def rows(self) -> list[Item]:
        """What is listed, as it was decided by now."""
        found = self.found.rows if self.found is not None else ()
        rows = []
        for item in found:
            key = key_of(item)
            shown = self._given_back.get(key) or self._as_decided.get(key, (item, 0))[0]
            if shown is not None and self._fits(shown):
                rows.append(shown)
        return rows

    @property
    def total(self) -> int:
        """How many fit, whether they were read or not."""
        if self.found is None:
            return 0
        return max(0, self.found.total - len(self.found.rows)) + len(self.rows)

    @property
    def waiting(self) -> int:
        """How many wait for a person, whatever is filtered."""
        return self._counted("waiting", self.found.waiting if self.found else 0)

    @property
    def deferred(self) -> int:
        """How many were put off."""
        return self._counted("deferred", self.found.deferred if self.found else 0)

    def _counted(self, state: str, before: int) -> int:
        read = {key_of(item): state_of(item) for item in (self.found.rows if self.found else ())}
        for key, (item, _) in self._as_decided.items():
            before += (item is not None and state_of(item) == state) - (read.get(key) == state)
        return max(0, before)

    def _fits(self, item: Item) -> bool:
        states = STATES[self.where.state]
        return not states or state_of(item) in states

    # --- decisions ---

    def decided(self, items: Mapping[Key, Item | None]) -> None:
        """Show items as they are to be; None: it goes."""
        for key, item in items.items():
            self._as_decided[key] = (item, _ON_ITS_WAY)
            self._given_back.pop(key, None)
            self.refused.pop(key, None)

    def done(self, keys: Iterable[Key]) -> None:
        """The engine has done it: what is read from now on has it."""
        self._now += 1
        for key in keys:
            if key in self._as_decided:
                self._as_decided[key] = (self._as_decided[key][0], self._now)

    def give_back(self, item: Item, why: str) -> None:
        """It could not be done: the item is there again, as it is now."""
        self._as_decided.pop(key_of(item), None)
        self._given_back[key_of(item)] = item
        self.refused[key_of(item)] = why

    @property
    def is_deciding(self) -> bool:
        """True while a decision is on its way."""
        return any(done == _ON_ITS_WAY for _, done in self._as_decided.values())
