"""A pass over the episodes: new ones are mined, and the facts that they touch are weighed again.

Each step is one transaction, and the rows alone record the progress: after a crash, a pass goes on where they end.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from cm_tui.engine.memory.narrator import mining, weighing
from cm_tui.engine.memory.narrator.grouping import Embed
from cm_tui.engine.memory.narrator.mining import Lookers, Observations
from cm_tui.engine.memory.narrator.tables import WORDED, NarratorTables, Position, number_of
from cm_tui.model import Cancel, Progress

_BATCH = 4_000
"""Episodes per write: a moment of work for waiting requests."""
_WAIT_S = 0.2
_KEPT = 4
"""After so many writes, the store's cached blocks of them are released."""
_BY_WORDS = "no model for prose: statements are compared by their words only"
_TURN = "seq int32, earlier int32, session int64, time float64, prompt int64"
_FACT = (
    "fact int64, kind string, subject string, claim string, text string, terms string, scope string, grp int64, "
    "topic int64, since float64, sense float64"
)
_TOUCHED = """
INSERT INTO narrator_touched SELECT DISTINCT grp FROM narrator_fact WHERE fact IN (
    SELECT fact FROM narrator_seen SEMI JOIN {table} USING (seq)
)
"""


def drop_invisible(tables: NarratorTables, embed: Embed) -> None:
    """Remove episodes that are no longer visible from the evidence, before the next pass.

    Raises StoreError if the store cannot be read or written.
    """
    if not tables.one_at_a_time.acquire(blocking=False):
        # An episode missed by this pass is found by the next one.
        return
    try:
        at = tables.position()
        if at.reading and (gone := mining.invisible_episodes(tables)):
            _remove_invisible(tables, at.reading, gone)
            weighing.weigh(tables, at.reading, embed, Cancel(), time.time())
            with tables.writing():
                tables.settle(at._replace(passes=at.passes + 1))
    finally:
        tables.one_at_a_time.release()


class Pass:
    """Mines new episodes of a journal.

    `tables`: for the observations. `embed`: returns vectors of texts; None: no model.
    """

    def __init__(self, tables: NarratorTables, folder: Path, embed: Embed) -> None:
        self._tables = tables
        self._folder = folder
        self._embed = embed
        self._failed: Counter[str] = Counter()
        self._by_words = False
        self.episodes = 0
        self.observations = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the messages for the user."""
        found = [f"skipped: {what} ({times:,} times)" for what, times in sorted(self._failed.items())]
        return (*found, _BY_WORDS) if self._by_words else tuple(found)

    def run(self, cancel: Cancel, now: Callable[[], float] = time.time) -> Iterator[Progress]:
        """Mine new episodes, and weigh what they touch.

        Raises CancelledError if the pass was cancelled; finished work is kept. JournalRereadError if the journal was reread
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
        at = tables.begin(mining.VERSION)
        state = tables.state()
        if at.state != state:
            due = mining.due(tables, now())
            yield Progress("read", 0, len(due))
            _remove_invisible(tables, at.reading, mining.invisible_episodes(tables))
            yield from self._look(due, at.reading, cancel)
        if at.state != state or weighing.is_due(tables):
            yield Progress("weigh", 0, 1)
            cancel.check()
            self._by_words = weighing.weigh(tables, at.reading, self._embed, cancel, now())
            with tables.writing():
                tables.settle(Position(at.reading, at.miners, state, at.passes + 1))
            yield Progress("weigh", 1, 1)
        if self.episodes >= _BATCH:
            tables.episodes.settle()

    def _look(self, due: Sequence[mining.Item], reading_name: str, cancel: Cancel) -> Iterator[Progress]:
        lookers = Lookers(self._folder)
        batch, written = Observations(), 0
        try:
            for seen in lookers.look(due):
                batch.add(seen)
                cancel.check()
                if len(batch.items) >= _BATCH:
                    self._put(batch, reading_name)
                    batch, written = Observations(), written + 1
                    if written % _KEPT == 0:
                        self._tables.episodes.release_blocks()
                yield Progress("read", self.episodes + len(batch.items), len(due))
        finally:
            lookers.close()
            if batch.items:
                # Observations are kept, however this ends.
                self._put(batch, reading_name)

    def _put(self, batch: Observations, reading_name: str) -> None:
        _replace_observations(self._tables, reading_name, batch)
        self.episodes += len(batch.items)
        self.observations += len(batch.rows)
        self._failed += batch.failed


# --- writing observations ---


def _replace_observations(tables: NarratorTables, reading_name: str, seen: Observations) -> None:
    """Replace the observations of episodes, in one transaction.

    Raises JournalRereadError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    turns = [(one.seq, one.earlier, one.session, one.time, seen.prompts.get(one.seq, 0)) for one in seen.items]
    facts = [
        # Facts with several wordings are determined when all are there.
        (number, *one, 0 if one[0] in WORDED else number_of(*one[:3]), 0, 0.0, 0.0)
        for number, one in seen.facts.items()
    ]
    with tables.writing():
        tables.check(reading_name)
        _remove(tables, [item.seq for item in seen.items])
        tables.insert("narrator_turn", _TURN, turns)
        with tables.given("new_facts", _FACT, facts):
            tables.cursor.execute(
                "INSERT INTO narrator_fact SELECT * FROM new_facts ANTI JOIN narrator_fact USING (fact)"
            )
        tables.insert("narrator_seen", "fact int64, seq int32, weight float32, opposes bool, speaker string", seen.rows)
        with tables.given("new_turns", "seq int32", [(item.seq,) for item in seen.items]):
            tables.cursor.execute(_TOUCHED.format(table="new_turns"))


def _remove_invisible(tables: NarratorTables, reading_name: str, seqs: Sequence[int]) -> None:
    """Remove the observations of episodes that are no longer visible.

    Raises JournalRereadError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    with tables.writing():
        tables.check(reading_name)
        _remove(tables, seqs)


def _remove(tables: NarratorTables, seqs: Sequence[int]) -> None:
    with tables.given("gone_turns", "seq int32", [(seq,) for seq in seqs]):
        if not tables.rows("SELECT 1 FROM narrator_turn SEMI JOIN gone_turns USING (seq) LIMIT 1"):
            return
        tables.cursor.execute(_TOUCHED.format(table="gone_turns"))
        for table in ("narrator_seen", "narrator_turn"):
            tables.cursor.execute(f"DELETE FROM {table} WHERE seq IN (SELECT seq FROM gone_turns)")  # noqa: S608 - our own names
