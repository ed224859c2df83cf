"""Derived tables and resolved calls of the states of the code that questions are answered from: made once, read by any thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import count
from weakref import ref

import duckdb

from cm_tui.engine.graph.derived_tables import DerivedTables, Read
from cm_tui.engine.graph.kept_pages import KeptPages
from cm_tui.engine.graph.resolve import SMALL, Resolver
from cm_tui.engine.graph.schema_view import SCHEMA
from cm_tui.engine.store.cursor import Cursor
from cm_tui.engine.store.database import Database
from cm_tui.errors import CmError

NOW = "now_file"
"""Relation of what is there now."""

_LOOK_S = 0.05
_made = count()
"""Counts the sets of tables of this process."""


class TableSet:
    """What is derived of one state of the code.

    Args:
        db: the store.
        number: of that state.
    """

    def __init__(self, db: Database, number: int) -> None:
        self.number = number
        # A name of its own, also where the tables of a generation are made again: a transaction that has seen a database
        # may not see another one of its name, or DuckDB declares the whole store invalid.
        self.schema = f"{SCHEMA}_{number}_{next(_made)}"
        self.tables = DerivedTables(db, self.schema)
        self.resolver = Resolver(self.tables)
        self.pages = KeptPages()
        self.users = 0
        """Calls of questions that are not answered yet."""
        self.asked = 0
        """Questions so far."""
        self.resolved = 0
        """Those of them that were about calls."""
        self._db = self.tables.view
        self._lock = threading.RLock()
        self._is_made = False

    def make(self, read: Read | None, *, whole: bool = False) -> None:
        """Make the tables, unless they are there; called by a thread that reads this generation.

        Args:
            read: as for `DerivedTables.refresh`.
            whole: resolve all calls too, not only those that are asked about.
        """
        with self._lock:
            if not self._is_made:
                try:
                    with self._db.generations.keeping():
                        self.tables.refresh(NOW, read)
                except BaseException:
                    # What was made so far went with the transaction.
                    self.tables.forget()
                    raise
                self._is_made = True
                # Where there are few, resolving all of them costs no more than choosing among them.
                whole = whole or int(self._db.value("SELECT count(*) FROM reference")) <= SMALL
            if whole and not self.resolver.is_whole:
                with self._db.generations.keeping():
                    self.resolver.resolve_all()


class GenerationTables:
    """The sets of tables of one store, by generation; those that nobody can ask about any more are dropped.

    Args:
        db: the store.
    """

    def __init__(self, db: Database) -> None:
        # The store is the key that the sets hang on: a strong reference would keep it for ever.
        self._store = ref(db)
        self._lock = threading.Lock()
        self._sets: dict[int, TableSet] = {}
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
            raise ReferenceError("The store has gone.")
        return db

    @contextmanager
    def asked(self, read: Read | None, *, resolve: bool) -> Iterator[TableSet]:
        """Hold the tables of the generation that this thread reads, made if need be.

        Args:
            read: as for `DerivedTables.refresh`.
            resolve: the question is about calls: from the second of them on, all are resolved behind the answers.
        """
        with self._using() as found:
            self._read = read
            found.make(read)
            found.asked += 1
            found.resolved += resolve
            if found.resolved > 1 and not found.resolver.is_whole:
                self._resolve_behind(found.number)
            yield found

    @contextmanager
    def _using(self) -> Iterator[TableSet]:
        number = self._db.generations.code
        with self._lock:
            if number not in self._sets:
                self._sets[number] = TableSet(self._db, number)
            found = self._sets[number]
            found.users += 1
        try:
            yield found
        finally:
            # Its transaction may have written into them, and could not write into others made in their place.
            self._db.generations.when_answered(partial(self._release, found))

    def _release(self, found: TableSet) -> None:
        with self._lock:
            found.users -= 1
        # The answer stands, whatever becomes of what is old; a store that is closed takes all of it along.
        with suppress(ReferenceError, CmError, duckdb.Error):
            self._drop_old()

    def _prepare(self, _number: int) -> None:
        """Make the tables of a new generation where somebody asked for those of the one before."""
        with self._lock:
            last = max(self._sets, default=None)
            before = None if last is None else self._sets[last]
        if before is None or not before.asked:
            return
        with self._using() as found:
            found.make(self._read, whole=before.resolver.is_whole)

    def _drop_old(self) -> None:
        with self._lock:
            newest = sorted(self._sets)[-2:]
            old = [found for number, found in self._sets.items() if number not in newest and not found.users]
            for found in old:
                del self._sets[found.number]
        for found in old:
            # Not in a transaction that has written into them.
            with closing(self._db.open_cursor()) as own:
                own.execute(f"DETACH DATABASE IF EXISTS {found.schema}")

    def _resolve_behind(self, number: int) -> None:
        with self._lock:
            busy = self._background is not None and self._background.is_alive()
            if busy or self._closed:
                return
            self._background = threading.Thread(target=self._resolve, args=(number,), name="cm-graph", daemon=True)
            self._background.start()

    def _resolve(self, number: int) -> None:
        try:
            with self._db.reading(), self._using() as found:
                self._running = self._db.cursor
                if found.number == number and not self._closed:
                    found.make(self._read, whole=True)
        except (CmError, duckdb.Error, ReferenceError):
            # The next question resolves for itself, and reports what is wrong; or the store was closed.
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
            # Whoever closes the store does not wait for what only the next question would have been quicker with.
            if (running := self._running) is not None:
                running.interrupt()
            thread.join(_LOOK_S)
