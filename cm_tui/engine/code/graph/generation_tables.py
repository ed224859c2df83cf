"""Derived tables and resolved calls by state of the code, current or past: built once, read by any thread."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count
from typing import NamedTuple
from weakref import ref

import duckdb

from cm_tui.engine.code.graph.derived_tables import SCHEMA, DerivedTables, Read
from cm_tui.engine.code.graph.resolve import SMALL, Resolver
from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.lru import LRU
from cm_tui.model import Edge, Page, SymbolKey
from cm_tui.worker_process import lower_thread_priority

NOW = "now_file"
"""Relation of the current files."""

MOST_EDGES = 20_000
"""Kept of the pages that were asked for last: some 500 bytes each."""
PARTIAL_QUESTIONS = 10
"""So many questions about one snapshot of the past cost about as much as resolving all of it; most get one or two."""
PREPARED = 100_000
"""References of a project that is prepared for an agent in which questions wait until all are resolved, two seconds on
one core; resolving their own at the same time takes as long, for each question."""
_KEPT = 2
"""Sets of each kind without users: two states can be compared side by side."""
_LOOK_S = 0.05
_made = count()
"""Counts the sets of tables of this process."""


class PageKey(NamedTuple):
    """A question about a symbol's edges, without the lines of their sites."""

    symbol: SymbolKey
    direction: str
    depth: int
    kinds: tuple[str, ...]


Pages = LRU[PageKey, Page[Edge]]


class TableSet:
    """Derived data of one state of the code.

    `snapshot`: its relation of (path, blob), for a FROM clause.
    """

    def __init__(self, db: Database, snapshot: str) -> None:
        self.number = 0
        """Increases with each generation; for a past state, with each use."""
        self.is_past = snapshot != NOW
        # A unique name, even if the tables of a generation are rebuilt: a transaction that has seen a database must not
        # see another one with its name, or DuckDB invalidates the whole store.
        self.schema = f"{SCHEMA}_{next(_made)}"
        self.tables = DerivedTables(db, self.schema, snapshot)
        self.resolver = Resolver(self.tables)
        # A page without edges takes room as well.
        self.pages: Pages = LRU(MOST_EDGES, lambda page: len(page.rows) + 1)
        self.users = 0
        """Calls of questions that are not answered yet."""
        self.asked = 0
        """Questions so far."""
        self.resolved = 0
        """The requests among them that were about calls."""
        self.is_awaited = False
        """All calls are being resolved since before the first question, and questions wait for that."""
        self.references = 0
        self._db = self.tables.view
        self._lock = threading.RLock()
        self._is_made = False

    def make(self, read: Read | None, *, whole: bool = False) -> None:
        """Build the tables if they are missing; called by a thread that reads this generation.

        `read`: as for `DerivedTables.make`; `whole`: resolve all calls, too, not only requested ones.
        """
        if self._is_made and (self.resolver.is_whole or not (whole or self.is_awaited)):
            # A question does not wait for a thread that resolves all calls meanwhile, of a large project.
            return
        with self._lock:
            if not self._is_made:
                # If that fails, the unfinished tables go with the transaction.
                with self._db.generations.keeping():
                    self.tables.make(read)
                self._is_made = True
                self.references = int(self._db.value("SELECT count(*) FROM reference"))
                # Where there are few, resolving all of them costs no more than choosing among them.
                whole = whole or self.references <= SMALL
            if whole and not self.resolver.is_whole:
                with self._db.generations.keeping():
                    self.resolver.resolve_all()


class GenerationTables:
    """The sets of tables of one store, by generation or past state; those out of use are dropped."""

    def __init__(self, db: Database) -> None:
        # The store is the key of the sets: a strong reference would keep it forever.
        self._store = ref(db)
        self._lock = threading.Lock()
        self._sets: dict[Hashable, TableSet] = {}
        self._read: Read | None = None
        self._background: threading.Thread | None = None
        self._running: Cursor | None = None
        self._closed = False
        db.generations.on_change(self._prepare)
        db.generations.on_close(self._close)

    @classmethod
    def of(cls, db: Database) -> GenerationTables:
        """Return the sets that all who ask about a store share."""
        return db.shared("generation_tables", cls)

    @property
    def _db(self) -> Database:
        db = self._store()
        if db is None:
            raise ReferenceError("The store was closed.")
        return db

    @contextmanager
    def asked(self, read: Read | None, snapshot: str, *, resolve: bool) -> Iterator[TableSet]:
        """Hold the tables of a snapshot, by default of the generation that this thread reads, made if need be.

        `read`: as for `DerivedTables.make`; `resolve`: the question is about calls: from the second of them on, all are
        resolved behind the answers; of a past state, later and at once.
        """
        with self._using(snapshot) as found:
            found.make(read)
            found.asked += 1
            found.resolved += resolve
            if found.is_past:
                found.make(read, whole=found.resolved > PARTIAL_QUESTIONS)
            else:
                self._read = read
                if found.resolved > 1:
                    self.resolve_behind(found)
            yield found

    def prepare(self, found: TableSet) -> None:
        """Resolve all calls of a set before the first question, which waits for it unless the project is large."""
        found.is_awaited = found.references <= PREPARED
        self.resolve_behind(found)

    def resolve_behind(self, found: TableSet) -> None:
        """Resolve all calls of a set of the current files in the background, after whatever else is to be done."""
        if found.resolver.is_whole:
            return
        with self._lock:
            busy = self._background is not None and self._background.is_alive()
            if busy or self._closed:
                return
            self._background = threading.Thread(
                target=self._resolve, args=(found.number,), name="cm-graph", daemon=True
            )
            self._background.start()

    @contextmanager
    def _using(self, snapshot: str = NOW) -> Iterator[TableSet]:
        key: Hashable = self._db.generations.code
        if snapshot != NOW:
            sql = f"SELECT count(*), sum(hash(path, blob)) FROM {snapshot}"  # noqa: S608 - our own relation
            key = snapshot, *self._db.rows(sql)[0]
        with self._lock:
            if key not in self._sets:
                self._sets[key] = TableSet(self._db, snapshot)
            found = self._sets[key]
            found.number = key if isinstance(key, int) else next(_made)
            found.users += 1
        try:
            yield found
        finally:
            # Its transaction may have written into them, and could not write into others made in their place.
            self._db.generations.when_answered(partial(self._release, found))

    def _release(self, found: TableSet) -> None:
        with self._lock:
            found.users -= 1
        # The response is complete; errors in dropping old tables are ignored, and a closed store drops them anyway.
        with suppress(ReferenceError, CmError, duckdb.Error):
            self._drop_old()

    def _prepare(self, _number: int) -> None:
        """Build the tables of a new generation if those of the one before were in use."""
        with self._lock:
            now = [found for found in self._sets.values() if not found.is_past]
            before = max(now, key=lambda found: found.number, default=None)
        if before is None or not before.asked:
            return
        with self._using() as found:
            found.make(self._read, whole=before.resolver.is_whole)

    def _drop_old(self) -> None:
        with self._lock:
            by_age = sorted(self._sets.items(), key=lambda item: item[1].number)
            kinds = ([item for item in by_age if item[1].is_past == is_past] for is_past in (False, True))
            old = [item for kind in kinds for item in kind[:-_KEPT] if not item[1].users]
            for key, _ in old:
                del self._sets[key]
        for _, found in old:
            # Not in a transaction that has written into them.
            with closing(self._db.open_cursor()) as own:
                own.execute(f"DETACH DATABASE IF EXISTS {found.schema}")

    def _resolve(self, number: int) -> None:
        try:
            with self._db.reading(), self._using() as found:
                self._running = self._db.cursor
                if not found.is_awaited:
                    # No request waits for this thread: until it is done, each resolves what it asks about.
                    lower_thread_priority()
                if found.number == number and not self._closed:
                    found.make(self._read, whole=True)
        except (CmError, duckdb.Error, ReferenceError):
            # The next request resolves for itself, and reports problems; or the store was closed.
            return
        finally:
            self._running = None

    def _close(self) -> None:
        with self._lock:
            self._closed = True
            thread = self._background
        if thread is None or thread is threading.current_thread():
            return
        while thread.is_alive():
            # Closing the store does not wait for work that would only speed up the next request.
            if (running := self._running) is not None:
                running.interrupt()
            thread.join(_LOOK_S)
