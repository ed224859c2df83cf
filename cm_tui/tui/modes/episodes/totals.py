"""Totals of what is recorded, asked for again while agents work on, and never so often that it costs more than a little."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cm_tui.errors import CmError
from cm_tui.model import EpisodeFilter, EpisodeStats
from cm_tui.tui.modes.episodes.activity import DAYS
from cm_tui.tui.modes.episodes.scope import BY_HAND, of_key
from cm_tui.tui.tasks.ask import Ask

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

LOOK_SHARE = 20
"""Asking for totals takes one part in so many of the time that passes, at most."""


@dataclass(frozen=True)
class Totals:
    """What there is of the episodes that fit."""

    stats: EpisodeStats
    by_hand: int
    """How many were recorded by hand, or in no session."""


class TotalsWatch:
    """Asks for totals, and says when it is time to ask again.

    Args:
        ask: asks the engine.
        failed: gets what went wrong.
        every: seconds between two questions, where they are answered quickly.
    """

    def __init__(self, ask: Ask, failed: Callable[[CmError], None], every: float) -> None:
        self._ask = ask
        self._failed = failed
        self._every = every
        self._due = 0.0

    @property
    def due(self) -> bool:
        """True when it may be asked again."""
        return time.monotonic() > self._due

    def read(self, where: EpisodeFilter, then: Callable[[Totals], None], *, delay: float = 0.0) -> None:
        """Ask for the totals of what fits a filter."""
        began = time.monotonic()

        def call(engine: Engine) -> Totals:
            stats = engine.episode_stats(where=where, days=DAYS)
            return Totals(stats, engine.episodes(where=of_key(where, BY_HAND), limit=1).total)

        def got(totals: Totals) -> None:
            took = time.monotonic() - began
            self._due = time.monotonic() + max(0.0, LOOK_SHARE * took - self._every)
            then(totals)

        self._ask("stats", call, got, self._failed, delay=delay)
