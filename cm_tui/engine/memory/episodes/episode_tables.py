"""The tables of episodes in a store, written during index runs and read without waiting for them.

They are not part of a generation: a new episode is listed at once, whatever run is under way. In a read-only store they
are in memory while it is open.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from weakref import proxy

import duckdb

from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.store import memory, schema
from cm_tui.engine.platform.store.connection import Cursor, connect_in_memory
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import Episode
from cm_tui.model.dates import day

# --- the rows of an episode in the store, and both ways between them and the record ---

PROMPT_CHARACTERS = 1_000
"""What lists show of all prompts together."""
ANSWER_CHARACTERS = 300
"""Characters of an answer, and of a verdict, in lists."""

_TITLE_CHARACTERS = 200
_SHOWN = (
    "id", "time", "agent", "session", "answer", "root", "sha", "head", "patch_lines", "patch_cut", "redacted", "note",
    "type", "actor", "title", "parent", "turn", "verdict", "outcome", "step_count", "tokens", "prompts", "files", "tools",
)  # fmt: skip
"""What lists show of an episode and no later event changes, in the order of its text; lists of texts come last."""
_LISTS = 3


def columns_of(seq: int, one: Episode, origin: str, at: Position, size: int) -> dict[str, Any]:
    """Return an episode's row.

    `seq`: its number; `origin`: digest of the turn that it was read from; `at`: end of the event in the journal.
    """
    tags = json.dumps(_clean(one.tags))
    row = {
        "seq": seq, "id": one.id, "time": one.time, "segment": at.segment, "place": at.offset, "type": one.type,
        "actor": one.actor, "agent": one.agent, "session": one.session, "parent": one.parent, "title": one.title,
        "prompt": first_line(_beginnings(one.prompts)), "root": one.root, "sha": one.sha, "outcome": one.outcome,
        "tokens": one.tokens, "origin": origin, "bytes": size, "own_tags": tags, "tags": tags, "pinned": False, "rating": 0,
        "guarded": one.actor == "person", "settled": False, "evidence": False, "state": "shown",
    }  # fmt: skip
    return {name: storable(value) if isinstance(value, str) else value for name, value in row.items()}


def shown_of(one: Episode) -> str:
    """Return as text what lists show of an episode and no later event changes."""
    texts = {"answer": one.answer[:ANSWER_CHARACTERS], "verdict": one.verdict[:ANSWER_CHARACTERS]}
    plain = [texts.get(name, getattr(one, name)) for name in _SHOWN[:-_LISTS]]
    row = [storable(value) if isinstance(value, str) else value for value in plain]
    return json.dumps(
        [*row, _clean(_beginnings(one.prompts)), _clean(one.files), _clean(one.tools)], ensure_ascii=False
    )


HEXADECIMAL = re.compile("[0-9a-f]+")
"""What ids of events consist of."""


def words_of(one: Episode) -> str:
    """Return the words that an episode is found by, each once, a line each; its id is in its row."""
    texts = (*one.prompts, one.answer, one.plan, one.verdict, one.title, one.agent, one.session, *one.files)
    id_ = "" if HEXADECIMAL.fullmatch(one.id) else one.id
    return "\n".join(dict.fromkeys(storable("\n".join((*texts, day(one.time), one.sha, id_))).lower().split()))


def storable(text: str) -> str:
    """Return a text that the store can hold: journals may have lone surrogates and zero bytes."""
    if text.isascii():
        return text.replace("\0", " ")
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")


def listed(shown: str, tags: Sequence[str], *, pinned: bool, rating: int, state: str) -> Episode:
    """Return an episode from the text of `shown_of`, not yet placed on the mainline.

    `tags`: the current ones, as are the following values; `pinned`: by the user; `rating`: by the user; `state`:
    visible, forgotten or archived.
    """
    values = json.loads(shown)
    found: dict[str, Any] = dict(zip(_SHOWN, [*values[:-_LISTS], *map(tuple, values[-_LISTS:])], strict=True))
    now: dict[str, Any] = {"tags": tuple(tags), "pinned": pinned, "rating": rating, "state": state}
    return Episode(**found, **now, moment=None, why="")


def first_line(prompts: Sequence[str]) -> str:
    """Return the first informative line of a prompt."""
    lines = (line.strip() for prompt in prompts for line in prompt.splitlines())
    return next((line for line in lines if line), "")[:_TITLE_CHARACTERS]


def _clean(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(map(storable, texts)))


def _beginnings(prompts: Sequence[str]) -> list[str]:
    left, kept = PROMPT_CHARACTERS, []
    for prompt in prompts:
        if left <= 0:
            break
        kept.append(storable(prompt[:left]))
        left -= len(prompt)
    return kept


# --- the tables of episodes in a store ---

_MIGRATIONS = (5, 7, 10, 11, 12, 13)


class EpisodeTables:
    """The tables of one store. Threads read on their own cursors; one at a time writes.

    `db`: the store; None: they are in memory.
    """

    def __init__(self, db: Database | None) -> None:
        self._memory: duckdb.DuckDBPyConnection | None = None
        if db is None or db.is_read_only:
            self._memory = connect_in_memory()
            for number, sql in schema.migrations():
                if number in _MIGRATIONS:
                    self._memory.execute(sql)
        self._db = None if db is None else proxy(db)
        self._cursors = threading.local()
        self.writer = threading.RLock()
        """Held while the journal is read into the tables."""
        self.narrator_pass = threading.Lock()
        """Held while the narrator looks at episodes."""
        self.position: tuple[Any, ...] | None = None
        """The row with the position in the journal; None: it has to be looked up."""

    @classmethod
    def of(cls, db: Database) -> EpisodeTables:
        """Return the tables that all who use a store share."""
        return db.shared("episode_tables", cls)

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor."""
        cursor: Cursor | None = getattr(self._cursors, "value", None)
        if cursor is None:
            cursor = self.open_cursor()
            self._cursors.value = cursor
        return cursor

    def open_cursor(self) -> Cursor:
        """Return another cursor with its own transactions."""
        if self._memory is not None:
            return Cursor(self._memory.cursor(), nullcontext)
        assert self._db is not None
        found: Cursor = self._db.open_cursor()
        return found

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.cursor.rows(sql, parameters)

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Return the first row of a query that has one."""
        return self.rows(sql, parameters)[0]

    def state(self) -> tuple[Any, ...]:
        """Return a change stamp of all that was read from the journal: segment, place, last event, number of events."""
        row = self.position
        if row is None:
            row = next(iter(self.rows("SELECT segment, place, event, events FROM episode_position")), ())
        return row[:4]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run all queries of this block on the same snapshot."""
        self.cursor.execute("BEGIN")
        try:
            yield
        finally:
            self.cursor.execute("ROLLBACK")

    def writing(self) -> AbstractContextManager[None]:
        """Write all of a block or nothing; the caller holds `writer`.

        Raises StoreError if the disk is full or the store cannot be written.
        """
        return self.cursor.transaction()

    def release_blocks(self) -> None:
        """Release the store's cached blocks of recent writes."""
        if self._memory is None and self._db is not None:
            self._db.release_blocks()
        memory.release_memory()

    def settle(self) -> None:
        """Write everything to the file, which frees the memory of pending writes."""
        if self._memory is None and self._db is not None:
            self._db.shrink()
        self.release_blocks()
