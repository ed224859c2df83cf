"""Keeps what fits the filter; what was just decided is shown as decided, whatever the engine has answered by then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cm_tui.errors import CmError
from cm_tui.lru import LRU
from cm_tui.model import NarratedProposal
from cm_tui.tui.modes.review import inbox
from cm_tui.tui.tasks.ask import Ask, Engine, Fail, Listing, Repeated

SETTLING = 0.06
"""Seconds that the cursor stays before something is read, so that scrolling reads nothing."""
AHEAD = 4
"""Proposals that are read before anybody comes to them."""
KEPT = 80


class Details:
    """Knows proposals whole.

    Args:
        ask: sends a request to the engine.
        came: called with the proposal under the cursor once it is read.
        failed: called with the id of an unreadable proposal and the error.
    """

    def __init__(
        self, ask: Ask, came: Callable[[NarratedProposal], None], failed: Callable[[str, CmError], None]
    ) -> None:
        self._ask = ask
        self._came = came
        self._failed = failed
        self._known: LRU[str, tuple[NarratedProposal, NarratedProposal, int]] = LRU(KEPT)
        """As it was listed when it was read, whole, and after which news."""
        self._news = 0

    def of(self, row: NarratedProposal) -> NarratedProposal | None:
        """Return a proposal whole, as it was read last; None: it was not read."""
        known = self._known.get(row.id)
        return known[1] if known is not None else None

    def is_fresh(self, row: NarratedProposal) -> bool:
        """Return whether it was read as it is listed now, and nothing is known to have changed since."""
        known = self._known.get(row.id)
        return known is not None and known[0] == row and known[2] == self._news

    def read(self, row: NarratedProposal, following: Sequence[NarratedProposal]) -> None:
        """Read the proposal under the cursor, then the following ones."""

        def got(whole: NarratedProposal) -> None:
            self.put(row, whole)
            self._came(whole)
            self.read_ahead(following)

        self._ask(
            "detail", lambda engine: engine.narrated_proposal(row.id), got, lambda error: self._failed(row.id, error),
            delay=SETTLING,
        )  # fmt: skip

    def read_ahead(self, rows: Sequence[NarratedProposal]) -> None:
        """Read the next proposals in advance."""
        unread = [row for row in rows[:AHEAD] if not self.is_fresh(row)]
        if not unread:
            return

        def call(engine: Engine) -> list[tuple[NarratedProposal, NarratedProposal]]:
            return [(row, engine.narrated_proposal(row.id)) for row in unread]

        def got(found: list[tuple[NarratedProposal, NarratedProposal]]) -> None:
            for row, whole in found:
                self.put(row, whole)

        self._ask("ahead", call, got, lambda _: None, delay=SETTLING)

    def put(self, row: NarratedProposal, whole: NarratedProposal) -> None:
        """Take one that was read."""
        self._known.put(row.id, (row, whole, self._news))

    def drop(self, name: str) -> None:
        """Forget one: it is another now."""
        self._known.pop(name)

    def expire(self) -> None:
        """Mark all as outdated; each is shown as it was until it is read again."""
        self._news += 1


_ON_ITS_WAY = -1


class Stock(Listing[inbox.InboxFilter, inbox.Inbox]):
    """Proposals as they are listed.

    Args:
        ask: asks the engine.
        changed: called when something else was read.
        failed: gets what went wrong; the same thing once, until it was mended.
    """

    def __init__(self, ask: Ask, changed: Callable[[], None], failed: Fail) -> None:
        super().__init__(Repeated[tuple[inbox.Inbox, int]]("inbox", ask, failed), inbox.InboxFilter())
        self._changed = changed
        self._now = 0
        """Counts answers to decisions: what was read before one is older than it."""
        self._as_decided: dict[inbox.Key, tuple[inbox.Item | None, int]] = {}
        """Items as they are to be, None where they go, and when the engine had done it."""
        self._given_back: dict[inbox.Key, inbox.Item] = {}
        self.refused: dict[inbox.Key, str] = {}
        """Why a decision could not be done: it is shown once more, as it is now."""

    # --- reading ---

    def read(self, *, delay: float = 0.0) -> None:
        """Request the same rows again, as far as they were read."""
        where, limit = self.where, self._limits.get("", inbox.PAGE)

        def call(engine: Engine) -> tuple[inbox.Inbox, int]:
            # Counted when it is asked, not before: decisions may be done while this one waits.
            began = self._now
            return inbox.read_inbox(engine, where, limit), began

        def got(result: tuple[inbox.Inbox, int]) -> None:
            self.found, began = result
            self._given_back.clear()
            self._as_decided = {
                key: (item, done)
                for key, (item, done) in self._as_decided.items()
                if done == _ON_ITS_WAY or done > began
            }
            self._changed()

        self._question.read(call, got, delay=delay)

    def read_on(self, many: int) -> None:
        """Load up to the visible rows and well beyond."""
        if self.found is not None:
            self.read_further(len(self.found.rows), self.found.total, many)

    # --- what is listed ---

    @property
    def rows(self) -> list[inbox.Item]:
        """What is listed, as it was decided by now."""
        found = self.found.rows if self.found is not None else ()
        rows = []
        for item in found:
            key = inbox.key_of(item)
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
        read = {inbox.key_of(item): inbox.state_of(item) for item in (self.found.rows if self.found else ())}
        for key, (item, _) in self._as_decided.items():
            before += (item is not None and inbox.state_of(item) == state) - (read.get(key) == state)
        return max(0, before)

    def _fits(self, item: inbox.Item) -> bool:
        states = inbox.FILTERED_STATES[self.where.state]
        return not states or inbox.state_of(item) in states

    # --- decisions ---

    def decided(self, items: Mapping[inbox.Key, inbox.Item | None]) -> None:
        """Show items as they are to be; None: it goes."""
        for key, item in items.items():
            self._as_decided[key] = (item, _ON_ITS_WAY)
            self._given_back.pop(key, None)
            self.refused.pop(key, None)

    def done(self, keys: Iterable[inbox.Key]) -> None:
        """The engine has done it: what is read from now on has it."""
        self._now += 1
        for key in keys:
            if key in self._as_decided:
                self._as_decided[key] = (self._as_decided[key][0], self._now)

    def restore(self, item: inbox.Item, why: str) -> None:
        """It could not be done: the item is there again, as it is now."""
        self._as_decided.pop(inbox.key_of(item), None)
        self._given_back[inbox.key_of(item)] = item
        self.refused[inbox.key_of(item)] = why
