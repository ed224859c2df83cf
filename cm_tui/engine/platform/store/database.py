"""Store of a project in DuckDB: opening, migrations, transactions."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, TypeVar
from weakref import proxy

import duckdb

from cm_tui.engine.platform.store import bulk, schema
from cm_tui.engine.platform.store.connection import Cursor, can_only_be_read, connect, connect_in_memory
from cm_tui.engine.platform.store.failures import damaged, explained, full, read_only
from cm_tui.engine.platform.store.generations import FACTS, Generations
from cm_tui.errors import StoreBusyError, StoreDamagedError, StoreError, StoreReadOnlyError, StoreTooNewError
from cm_tui.paths import STORE_DATABASE

_LONGEST_S = 60.0
_ROOM = 1_000_000
"""Free bytes without which nothing is written: DuckDB answers no query any more once a checkpoint has failed."""


class InUse:
    """Counts calls. Closing a connection in use by another thread crashes the process."""

    def __init__(self) -> None:
        self._left = threading.Condition()
        self._inside = 0
        self._closed = False
        self._own = threading.local()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold it open for a block; nested ones join the outer one. Raises StoreError if it was closed."""
        depth = getattr(self._own, "depth", 0)
        counted = False
        try:
            if not depth:
                with self._left:
                    if self._closed:
                        raise StoreError("The index was closed during the request.", hint="Repeat the request.")
                    self._inside += 1
                    counted = True
            self._own.depth = depth + 1
            yield
        finally:
            self._own.depth = depth
            if counted:
                with self._left:
                    self._inside -= 1
                    if self._closed:
                        self._left.notify_all()

    def close(self) -> None:
        """Reject new users, and wait until all others are done, within a time limit."""
        with self._left:
            self._closed = True
            own = 1 if getattr(self._own, "depth", 0) else 0
            self._left.wait_for(lambda: self._inside <= own, _LONGEST_S)


# DuckDB imports these for every parameter and table, and a failing import searches the whole import path: 0.1 ms each,
# most of a warm query. For a name that is marked as absent, Python fails at once.
sys.modules.update({name: None for name in ("pandas", "pyarrow") if find_spec(name) is None})  # type: ignore[misc]

LOG = f"{STORE_DATABASE}.wal"
"""Changes that are not in the database's own file yet; there while it is open, and after a process was killed."""

_IN_MEMORY = "SELECT database_name FROM duckdb_databases() WHERE path IS NULL AND NOT internal"

T = TypeVar("T")


class Database:
    """Store of one project.

    Each thread works on its own cursor of the one connection; `transaction` serialises writers. A read-only one is
    opened for reading.

    Args:
        folder: the project's folder below the data folder; created if missing.
        in_memory: nothing is written to disk, and nothing is left after closing.

    Raises:
        StoreBusyError: another process has it; the message names it.
        StoreDamagedError: the file is truncated, overwritten or not a database.
        StoreTooNewError: written by a newer cm.
        StoreError: it cannot be created, read or written.
    """

    def __init__(self, folder: Path, *, in_memory: bool = False) -> None:
        self.folder = folder
        self.file = folder / STORE_DATABASE
        self.is_read_only = not in_memory and can_only_be_read(self.file)
        self.must_reopen = False
        """A write failed so that DuckDB answers nothing until the file is opened again: a checkpoint on a full disk."""
        is_new = not in_memory and not self.file.exists()
        with self._removed_on_failure() if is_new else nullcontext():
            self._open(in_memory=in_memory)

    def _open(self, *, in_memory: bool) -> None:
        self._in_memory = in_memory
        self._connection = connect_in_memory() if in_memory else connect(self.file, for_reading=self.is_read_only)
        self._cursors = threading.local()
        self._in_use = InUse()
        self._writer = threading.RLock()
        self._states = count(1)
        self._state = 0
        self._facts: tuple[int | None, dict[str, str]] = (None, {})
        self._lowering = threading.Lock()
        self._memory_limit = ""
        self._shared: dict[str, Any] = {}
        self._sharing = threading.RLock()
        self.generations = Generations(proxy(self))
        """States of the index that questions are answered from."""
        try:
            self._migrate()
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def _removed_on_failure(self) -> Iterator[None]:
        """Leave no half-made store: it would pass for a damaged one once there is room again."""
        try:
            yield
        except StoreBusyError:
            raise
        except BaseException:
            for name in (STORE_DATABASE, LOG):
                with suppress(OSError):
                    (self.folder / name).unlink()
            raise

    @property
    def cursor(self) -> Cursor:
        """This thread's cursor: that of the question that it answers, else its own."""
        reading: Cursor | None = getattr(self._cursors, "reading", None)
        if reading is not None:
            return reading
        cursor: Cursor | None = getattr(self._cursors, "value", None)
        if cursor is None:
            cursor = self._cursors.value = self.open_cursor()
        return cursor

    def open_cursor(self) -> Cursor:
        """Return another cursor with its own transactions."""
        with self._in_use.entered():
            return Cursor(self._connection.cursor(), self._explained)

    def use(self, cursor: Cursor | None) -> Cursor | None:
        """Make this thread's queries use a cursor (None: its own), and return the one before."""
        before: Cursor | None = getattr(self._cursors, "reading", None)
        self._cursors.reading = cursor
        return before

    def shared(self, name: str, make: Callable[[Database], T]) -> T:
        """Return the object of that name that all users of this store share; it is released with the store.

        `make`: called when it is first needed.
        """
        with self._sharing:
            if name not in self._shared:
                self._shared[name] = make(self)
            found: T = self._shared[name]
            return found

    @property
    def is_writing(self) -> bool:
        """Return whether this thread is in its own transaction."""
        return bool(getattr(self._cursors, "depth", 0))

    @property
    def state(self) -> int | None:
        """A number that changes with every write; None: this thread does not read the last committed state."""
        is_own = self.is_writing or getattr(self._cursors, "reading", None) is not None
        return None if is_own else self._state

    @contextmanager
    def reading(self) -> Iterator[int]:
        """Make all queries of this thread read one generation, and yield its number; nested calls join the outer one.

        Raises StoreError if the store cannot be read.
        """
        with self.generations.reading() as number:
            yield number

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self._run(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        row = self._run(sql, parameters).fetchone()
        return None if row is None else row[0]

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        """Run a statement without reading its rows."""
        self._run(sql, parameters)
        if "meta" in sql:
            self.cursor.facts = None
        self._state = next(self._states)

    def _run(self, sql: str, parameters: Sequence[Any]) -> Cursor:
        if "meta" in sql:
            self._write_facts()
        return self.cursor.execute(sql, list(parameters))

    @contextmanager
    def transaction(self) -> Iterator[Cursor]:
        """Hold a transaction, all or nothing; nested calls join the outer one.

        Raises StoreReadOnlyError if it can only be read here; StoreError if the disk is full or the store cannot be
        written.
        """
        if self.is_read_only:
            raise read_only(self.file)
        with self._writer:
            if getattr(self._cursors, "depth", 0):
                yield self.cursor
                return
            if not self._has_room():
                raise full(self.file)
            self._cursors.depth = 1
            # Writes are not part of the generation that a request reads.
            reading = self.use(None)
            facts: dict[str, str] | None = None
            try:
                with self._explained():
                    self.cursor.execute("BEGIN")
                    self.cursor.facts, self.cursor.new_facts = None, {}
                    yield self.cursor
                    self._write_facts()
                    self.cursor.execute("COMMIT")
                    facts = self.cursor.facts
            except BaseException:
                self._rollback()
                raise
            finally:
                self._cursors.depth = 0
                self._state = next(self._states)
                if facts is not None:
                    self._facts = self._state, facts
                self.use(reading)

    def shrink(self) -> None:
        """Write everything to the file, and shrink it to its content: pending writes take memory.

        While another thread writes, or without room for what is pending, that is left to the next checkpoint.
        """
        if not self.is_read_only and self._has_room(self._pending()):
            with suppress(duckdb.TransactionException):
                self.cursor.execute("CHECKPOINT")

    def settle(self) -> None:
        """Compress tables in memory, and return what queries have freed to the system; for a moment without requests."""
        with self._lowering, self._explained(), closing(self._connection.cursor()) as own:
            limit = self._read_memory_limit(own)
            for (name,) in own.execute(_IN_MEMORY).fetchall():
                # Left to the next time while a transaction uses it, or when it is being removed.
                with suppress(duckdb.TransactionException, duckdb.BinderException, duckdb.CatalogException):
                    own.execute(f'CHECKPOINT "{name}"')
            # DuckDB keeps freed memory for later queries until its limit is set.
            own.execute(f"SET memory_limit = '{limit}'")

    def release_blocks(self) -> None:
        """Release DuckDB's cached blocks of the file; those in use by a query stay."""
        # On a separate connection: a refused setting would end a transaction of this thread.
        with self._lowering, self._explained(), closing(self._connection.cursor()) as own:
            limit = self._read_memory_limit(own)
            try:
                # Blocks that it cannot drop would be written next to the store, where erased data would stay behind.
                own.execute("SET max_temp_directory_size = '0KB'")
                # DuckDB drops blocks for a lower limit, and then refuses an infeasible one, so other queries go on.
                with suppress(duckdb.OutOfMemoryException):
                    own.execute("SET memory_limit = '1KB'")
            finally:
                # With a limit that is feasible, it returns released memory to the system.
                own.execute(f"SET memory_limit = '{limit}'")
                own.execute("RESET max_temp_directory_size")

    def _read_memory_limit(self, own: duckdb.DuckDBPyConnection) -> str:
        if not self._memory_limit:
            # Before it is lowered, as reading takes memory, and only once: the value is rounded.
            self._memory_limit = own.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
        return self._memory_limit

    def _pending(self) -> int:
        """Return the bytes of changes that are not in the file yet."""
        try:
            return (self.folder / LOG).stat().st_size
        except OSError:
            return 0

    def _has_room(self, more: int = 0) -> bool:
        """Return whether so many bytes, and a few more, can be written."""
        try:
            return self._in_memory or shutil.disk_usage(self.folder).free >= more + _ROOM
        except OSError:
            # Whether it can be written shows when it is.
            return True

    def _rollback(self) -> None:
        try:
            self.cursor.new_facts.clear()
            self.cursor.execute("ROLLBACK")
        except (duckdb.Error, StoreError):
            # After a fatal error there is no transaction left to roll back; DuckDB has discarded it.
            return

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> None:
        """Insert many rows, given as columns of one length."""
        bulk.insert(self, table, columns)

    @property
    def facts(self) -> dict[str, str]:
        """What the store remembers about itself, as this thread reads it."""
        state = self.state
        if state is None:
            # A transaction reads them once. These few rows are read sooner than a condition on them is planned.
            cursor = self.cursor
            if cursor.facts is None:
                cursor.facts = dict(cursor.execute(FACTS).fetchall())
            return cursor.facts
        known, facts = self._facts
        if known != state:
            facts = dict(self.rows(FACTS))
            self._facts = state, facts
        return facts

    def get_meta(self, key: str) -> str | None:
        """Return a fact that the store remembers about itself."""
        return self.facts.get(key)

    def set_meta(self, key: str, value: str) -> None:
        """Remember a fact about the store."""
        self.set_facts({key: value})

    def set_facts(self, facts: Mapping[str, str]) -> None:
        """Remember facts about the store; they are written together, at the end of the transaction."""
        with self.transaction() as cursor:
            known = self.facts
            new = {key: value for key, value in facts.items() if known.get(key) != value}
            known.update(new)
            cursor.new_facts.update(new)

    def _write_facts(self) -> None:
        """Write what this transaction remembers."""
        cursor = self.cursor
        facts, cursor.new_facts = cursor.new_facts, {}
        if facts:
            keys, rows = ", ".join("?" * len(facts)), ", ".join(["(?, ?)"] * len(facts))
            cursor.execute(f"DELETE FROM meta WHERE key IN ({keys})", list(facts))  # noqa: S608 - placeholders
            cursor.execute(f"INSERT INTO meta VALUES {rows}", [text for fact in facts.items() for text in fact])  # noqa: S608 - placeholders

    def close(self) -> None:
        """Write everything and close the file, once no thread runs a query."""
        self.generations.close()
        self._in_use.close()
        self._connection.close()
        # Threads that go on would keep their cursors, and with them this store and what hangs on it.
        self._cursors = threading.local()
        self._shared.clear()

    def number(self, key: str, default: int = 0) -> int:
        """Return a numeric fact. Raises StoreDamagedError if it is not a number."""
        text = self.get_meta(key)
        try:
            return default if text is None else int(text)
        except ValueError as error:
            raise self.unreadable(key, text) from error

    def unreadable(self, key: str, text: str | None) -> StoreDamagedError:
        """Return the error of an invalid fact."""
        return damaged(self.file, "fact-unreadable", f"its metadata {key} is {(text or '')[:40]!r}")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn DuckDB's errors into errors of this store; a query for missing names may be valid."""
        try:
            with self._in_use.entered(), explained(self.file):
                yield
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            missing = self._lacks()
            if not missing:
                raise
            what = f"it lacks {', '.join(missing[:3])}{' and more' if len(missing) > 3 else ''}"
            raise damaged(self.file, "schema-incomplete", what) from error
        except StoreError as error:
            self.must_reopen = self.must_reopen or isinstance(error.__cause__, duckdb.FatalException)
            raise

    def _lacks(self) -> list[str]:
        """Return missing parts of the schema; on a separate connection, as a transaction may have failed on this one."""
        if getattr(self._cursors, "migrating", False):
            return []
        try:
            with self._in_use.entered(), closing(self._connection.cursor()) as own:
                return schema.lacks(lambda sql: own.execute(sql).fetchall())
        except duckdb.Error:
            return []

    def _migrate(self) -> None:
        # A new store lacks everything, which is no damage.
        self._cursors.migrating = True
        try:
            current = schema.number_of(self.rows)
        except schema.UnreadableSchemaError as error:
            raise damaged(self.file, "schema-unreadable", str(error)) from error
        finally:
            self._cursors.migrating = False
        newest = schema.migrations()[-1][0]
        if current > newest:
            raise StoreTooNewError(
                f"{self.file} has schema {current}; this cm supports {newest}. It is not used or changed.",
                hint="Run `cm rebuild` to rebuild it for this version. Update cm instead to keep it.",
                finding="schema-newer",
            )
        if current < newest and self.is_read_only:
            raise StoreReadOnlyError(
                f"{self.file} has schema {current}, this cm writes {newest}, and it cannot be written here.",
                hint="Make it writable, or set CM_HOME to a folder you can write.",
                finding="schema-older",
            )
        self._cursors.migrating = True
        try:
            missing = [step for step in schema.migrations() if step[0] > current]
            # A new store is made in one transaction: each commit waits for the disk.
            for steps in [missing] if current == 0 else [[step] for step in missing]:
                with self.transaction() as cursor:
                    for _, sql in steps:
                        cursor.execute(sql)
                    self.set_meta("schema", str(steps[-1][0]))
        except duckdb.Error as error:
            what = f"it has schema {current} and cannot be upgraded to {newest} ({str(error).strip().splitlines()[0]})"
            raise damaged(self.file, "schema-older", what) from error
        finally:
            self._cursors.migrating = False
