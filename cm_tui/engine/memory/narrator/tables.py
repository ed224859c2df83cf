"""The narrator's tables of observations, next to those of the episodes.

They follow the tables of episodes: reread episodes are mined again. A trial works on copies that only one cursor sees,
and that are dropped when it is closed.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4

from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.errors import StoreError

TABLES = (
    "narrator_turn", "narrator_fact", "narrator_seen", "narrator_group", "narrator_touched", "narrator_position",
    "narrator_vector", "narrator_near", "narrator_told", "narrator_phrasing",
)  # fmt: skip
_OF_MINERS = frozenset(TABLES[:8])
WORDED = frozenset({"statement", "decision", "rejected", "correction"})
"""Kinds in which several wordings may be one fact; in others, only equal ones are."""
WORDED_SQL = ", ".join(f"'{kind}'" for kind in sorted(WORDED))
PLAIN = (
    "CASE WHEN f.sense = 0 THEN s.weight ELSE 1 / (1 + exp(-(f.sense + "
    "ln(greatest(s.weight, 0.000001) / (1 - least(s.weight, 0.999999)))))) END"
)
"""Plainness of a wording: from its miner, plus the contribution of its vector."""
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_WITHDRAWN = 1_000
"""Earlier proposals that are still known as withdrawn when their id is given."""
VISIBLE = "state IN ('shown', 'archived') AND actor <> 'narrator'"
"""Condition on episodes to be mined."""


class JournalRereadError(StoreError):
    """The journal was reread meanwhile: the observations are outdated."""


class Position(NamedTuple):
    """How far the episodes were looked at."""

    reading: str
    """Names this reading of the journal; empty: nothing of it was looked at yet."""
    miners: int = 0
    state: str = ""
    passes: int = 0
    """Number of weighings."""


def number_of(*parts: str) -> int:
    """Return a number that names texts: a digest of 63 bits."""
    text = "\0".join(parts).encode("utf-8", "replace")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big") >> 1


def id_of(number: int, letters: int = 6, taken: Container[str] = ()) -> str:
    """Return the stable id of a proposal; on a collision, the second one gets more letters."""
    found = "n"
    while len(found) <= letters or found in taken:
        number, letter = divmod(number, len(_LETTERS))
        found += _LETTERS[letter]
    return found


class NarratorTables:
    """The narrator's observations.

    `tables`: of episodes, on the same cursors. `cursor`: has copies of the tables; None: use the tables themselves.
    """

    def __init__(self, tables: EpisodeTables, cursor: Cursor | None = None) -> None:
        self.episodes = tables
        self._cursor = cursor
        self._candidates: tuple[str, dict[int, Any]] = "", {}

    def candidates(self, reading: str) -> dict[int, Any]:
        """Return the facts as read before, by group; those that a pass touches are removed from it."""
        if self._candidates[0] != reading:
            self._candidates = reading, {}
        return self._candidates[1]

    @property
    def one_at_a_time(self) -> Lock:
        """Held while mining or weighing."""
        return self.episodes.narrator_pass

    @classmethod
    @contextmanager
    def trial(cls, tables: EpisodeTables) -> Iterator[NarratorTables]:
        """Use copies of the tables in a block: writes are dropped afterwards."""
        cursor = tables.open_cursor()
        try:
            for table in TABLES:
                cursor.execute(f"CREATE TEMP TABLE {table} AS SELECT * FROM {table}")  # noqa: S608 - our own names
            yield cls(tables, cursor)
        finally:
            cursor.close()

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""
        return self._cursor or self.episodes.cursor

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.cursor.rows(sql, parameters)

    @contextmanager
    def given(self, view: str, columns: str, rows: Iterable[Sequence[Any]]) -> Iterator[None]:
        """Have queries of this block read rows under a name.

        `columns`: names and Arrow types, such as `seq int32, text string`.
        """
        from arro3.core import Array, DataType, Table

        names = [one.split() for one in columns.split(",")]
        values = list(zip(*rows, strict=True)) or [()] * len(names)
        arrow: dict[str, Any] = {
            name: Array(some, type=getattr(DataType, kind)()) for (name, kind), some in zip(names, values, strict=True)
        }
        self.cursor.register(view, Table.from_pydict(arrow))
        try:
            yield
        finally:
            self.cursor.unregister(view)

    def insert(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows; `columns`: all of the table, as for `given`."""
        with self.given("incoming", columns, rows):
            self.cursor.execute(f"INSERT INTO {table} SELECT * FROM incoming")  # noqa: S608 - our own names

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write all of a block or nothing, while reading the journal into the tables is blocked.

        Raises StoreError if the store cannot be written.
        """
        with self.episodes.writer, self.cursor.transaction():
            yield

    # --- how far it is ---

    def position(self) -> Position:
        """Return how far the episodes were looked at."""
        found = self.rows("SELECT reading, miners, state, pass FROM narrator_position")
        return Position(*found[0]) if found else Position("")

    def begin(self, miners: int) -> Position:
        """Return where to go on; episodes that other miners mined are mined again."""
        found = self.position()
        if found.reading and found.miners == miners:
            return found
        begun = Position(uuid4().hex, miners, "", found.passes)
        with self.writing():
            for table in TABLES:
                if table in _OF_MINERS:
                    self.cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            self._put(begun)
        return begun

    def check(self, reading: str) -> None:
        """Make sure that it is still the same reading of the journal; the caller writes.

        Raises JournalRereadError if it is not.
        """
        if self.position().reading != reading:
            raise JournalRereadError("The journal was reread meanwhile.", hint="Run `cm narrate` again.")

    def settle(self, position: Position) -> None:
        """Store the progress; the caller writes."""
        self.check(position.reading)
        self._put(position)

    def _put(self, position: Position) -> None:
        self.cursor.execute("DELETE FROM narrator_position")
        self.cursor.execute("INSERT INTO narrator_position VALUES (?, ?, ?, ?)", list(position))

    def state(self) -> str:
        """Return a change stamp of all episodes."""
        state = self.episodes.state()
        return json.dumps([state] if state else [])

    # --- results of the last pass ---

    def told(self) -> dict[str, str]:
        """Return the proposals at the end of the last pass: digests by id."""
        return dict(self.rows("SELECT id, digest FROM narrator_told WHERE digest <> ''"))

    def proposed_before(self) -> set[str]:
        """Return the ids of all proposals of the last pass, and of the last ones that waited earlier."""
        return {row[0] for row in self.rows("SELECT id FROM narrator_told")}

    def store_proposals(self, digests: Mapping[str, str]) -> None:
        """Store the current proposals; of the last earlier ones the id stays, without a digest."""
        if digests == self.told():
            return
        # The order of rows is that in which proposals were withdrawn.
        earlier = [row[0] for row in self.rows("SELECT id FROM narrator_told ORDER BY rowid") if row[0] not in digests]
        kept = {**dict.fromkeys(earlier[-_WITHDRAWN:], ""), **digests}
        with self.writing():
            self.cursor.execute("DELETE FROM narrator_told")
            self.insert("narrator_told", "id string, digest string", list(kept.items()))
