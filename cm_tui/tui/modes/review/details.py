"""Reads proposals whole, with diff and evidence: the one under the cursor, and those that come next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.lru import LRU
from cm_tui.model import NarratedProposal
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

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
        wanted = [row for row in rows[:AHEAD] if not self.is_fresh(row)]
        if not wanted:
            return

        def call(engine: Engine) -> list[tuple[NarratedProposal, NarratedProposal]]:
            return [(row, engine.narrated_proposal(row.id)) for row in wanted]

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
