"""A pass over the episodes: new ones are mined, and the facts that they touch are weighed again.

Each step is one transaction, and the rows alone record the progress: after a crash, a pass goes on where they end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui.engine.memory.narrator import reading, weighing
from cm_tui.engine.memory.narrator.grouping import Embed
from cm_tui.engine.memory.narrator.looking import Seen
from cm_tui.engine.memory.narrator.processes import Lookers
from cm_tui.engine.memory.narrator.seen_rows import put_seen, remove_gone
from cm_tui.engine.memory.narrator.tables import NarratorTables, Position
from cm_tui.model import Cancel, Progress

_BATCH = 4_000
"""Episodes per write: a moment of work for waiting requests."""
_WAIT_S = 0.2
_KEPT = 4
"""After so many writes, the store's cached blocks of them are released."""


_BY_WORDS = "no model of prose: similar statements are compared by their words alone"


@dataclass
class PassCounts:
    """Result of a pass."""

    episodes: int = 0
    observations: int = 0
    failed: dict[str, int] = field(default_factory=dict)
    by_words: bool = False
    """There was no model: wordings were compared by their words alone."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the messages for the user."""
        found = [f"skipped: {what} ({times:,} times)" for what, times in sorted(self.failed.items())]
        return (*found, _BY_WORDS) if self.by_words else tuple(found)


def let_go(tables: NarratorTables, embed: Embed) -> None:
    """Remove episodes that are no longer visible from the evidence, before the next pass.

    Raises StoreError if the store cannot be read or written.
    """
    if not tables.one_at_a_time.acquire(blocking=False):
        # An episode missed by this pass is found by the next one.
        return
    try:
        at = tables.position()
        if at.reading and (gone := reading.gone(tables)):
            remove_gone(tables, at.reading, gone)
            weighing.weigh(tables, at.reading, embed, Cancel(), time.time())
            with tables.writing():
                tables.settle(at._replace(passes=at.passes + 1))
    finally:
        tables.one_at_a_time.release()


class Pass:
    """Mines new episodes of a journal.

    `tables`: for the observations. `embed`: returns vectors of texts; None: no model. `workers`: mining processes; 0:
    one per core.
    """

    def __init__(self, tables: NarratorTables, folder: Path, embed: Embed, workers: int = 0) -> None:
        self._tables = tables
        self._folder = folder
        self._embed = embed
        self._workers = workers
        self.counts = PassCounts()

    def run(self, cancel: Cancel, now: Callable[[], float] = time.time) -> Iterator[Progress]:
        """Mine new episodes, and weigh what they touch.

        Raises CancelledError if the pass was cancelled; finished work is kept. ReadAnewError if the journal was reread
        meanwhile. StoreError if it cannot be read, or the store not be written.
        """
        while not self._tables.one_at_a_time.acquire(timeout=_WAIT_S):
            cancel.check()
        try:
            yield from self._run(cancel, now)
        finally:
            self._tables.one_at_a_time.release()

    def _run(self, cancel: Cancel, now: Callable[[], float]) -> Iterator[Progress]:
        tables = self._tables
        at = tables.begin(_version())
        state = tables.state()
        if at.state != state:
            due = reading.due(tables, now())
            yield Progress("read", 0, len(due))
            if due.gone:
                remove_gone(tables, at.reading, due.gone)
            yield from self._look(due, at.reading, cancel)
        if at.state != state or weighing.is_due(tables):
            yield Progress("weigh", 0, 1)
            cancel.check()
            self.counts.by_words = weighing.weigh(tables, at.reading, self._embed, cancel, now())
            with tables.writing():
                tables.settle(Position(at.reading, at.miners, state, at.passes + 1))
            yield Progress("weigh", 1, 1)
        if self.counts.episodes >= _BATCH:
            tables.episodes.settle()

    def _look(self, due: reading.Due, reading_name: str, cancel: Cancel) -> Iterator[Progress]:
        lookers = Lookers(self._folder, self._workers)
        batch, done, written = Seen(), 0, 0
        try:
            for seen in lookers.look(due.items()):
                batch.add(seen)
                cancel.check()
                if len(batch.items) >= _BATCH:
                    done += self._put(batch, reading_name)
                    batch, written = Seen(), written + 1
                    if written % _KEPT == 0:
                        self._tables.episodes.let_go_of_blocks()
                yield Progress("read", done + len(batch.items), len(due))
        finally:
            lookers.close()
            if batch.items:
                # Observations are kept, however this ends.
                self._put(batch, reading_name)

    def _put(self, batch: Seen, reading_name: str) -> int:
        put_seen(self._tables, reading_name, batch)
        self.counts.episodes += len(batch.items)
        self.counts.observations += len(batch.rows)
        for what, times in batch.failed.items():
            self.counts.failed[what] = self.counts.failed.get(what, 0) + times
        return len(batch.items)


def _version() -> int:
    from cm_tui.engine.memory.narrator.miners.list import VERSION

    return VERSION
