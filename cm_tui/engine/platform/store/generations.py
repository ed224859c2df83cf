"""Generations: committed states of the index, each in use until the next one is ready.

A generation is the result of one index run: files, symbols, passages and keywords of one moment. A request reads in one
transaction, so it sees one generation from its first row to its last, whatever is written meanwhile. Data derived from
a generation (resolved calls, postings in memory) takes a while to build; until that is done, requests use the
generation before. Writers never wait for readers, nor readers for writers.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Protocol

import duckdb

from cm_tui.engine.platform.store.connection import Cursor
from cm_tui.errors import CmError, StoreError

SPARES = 16
"""Transactions that keep the previous generation readable while the next one is prepared: a limit on requests."""
_WAIT_S = 60.0
GENERATION, PASSAGE_GENERATION = "generation", "passage_generation"
"""Keys in `meta`: the first is increased by changes of files, the second of passages; their sum is the generation."""
FACTS = "SELECT key, value FROM meta"
"""Facts of a store about itself: few rows, faster to read as a whole than with a condition."""
_NOTHING = "SELECT 1 FROM meta LIMIT 0"


class Reads(Protocol):
    """The part of a store that generations need."""

    @property
    def is_writing(self) -> bool:
        """Return whether this thread is in its own transaction."""

    @property
    def facts(self) -> dict[str, str]:
        """What the store remembers about itself, as this thread reads it."""

    def open_cursor(self) -> Cursor:
        """Return another cursor of the same database."""

    def unreadable(self, key: str, text: str | None) -> CmError:
        """Return the error of an invalid fact."""

    def use(self, cursor: Cursor | None) -> Cursor | None:
        """Make this thread's queries use a cursor (None: its own), and return the one before."""


class _Question(threading.local):
    """What this thread reads from at the moment."""

    number: int | None = None
    cursor: Cursor | None = None
    code: int | None = None
    """The state of the code in that generation, once requested."""

    def __init__(self) -> None:
        self.endings: list[Callable[[], None]] = []
        """Called once it is answered."""


class Generations:
    """Generations of one store. Safe to use from several threads."""

    def __init__(self, store: Reads) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._idle: list[Cursor] = []
        self._spares: deque[Cursor] = deque()
        self._published: int | None = None
        """Generation in use during a change; None: the committed state."""
        self._changing = threading.RLock()
        self._depth = 0
        self._question = _Question()
        self._preparers: list[Callable[[int], None]] = []
        self._closers: list[Callable[[], None]] = []

    @property
    def current(self) -> int:
        """Return the generation for a request made now."""
        if self._question.number is not None:
            return self._question.number
        newest = self._sum(self._store.facts, (GENERATION, PASSAGE_GENERATION))
        # Read last: a generation that is committed and not ready yet is not the one that requests get.
        published = self._published
        return newest if published is None or self._store.is_writing else published

    @property
    def code(self) -> int:
        """Return the number of the code's state that this thread reads: agents' recordings do not change it."""
        question = self._question
        if question.number is not None and question.code is not None:
            return question.code
        number = self._sum(self._store.facts, (GENERATION,))
        if question.number is not None:
            question.code = number
        return number

    def on_change(self, prepare: Callable[[int], None]) -> None:
        """Prepare each new generation in the writer, before requests are served from it.

        `prepare`: gets the number; its thread reads that generation meanwhile.
        """
        self._preparers.append(prepare)

    def when_answered(self, end: Callable[[], None]) -> None:
        """Call something after this thread's request, or at once without a request."""
        if self._question.number is None:
            end()
        else:
            self._question.endings.append(end)

    def on_close(self, end: Callable[[], None]) -> None:
        """Call something before the store is closed."""
        self._closers.append(end)

    @contextmanager
    def reading(self) -> Iterator[int]:
        """Make all queries of this thread read one generation, and yield its number; nested calls join the outer one."""
        question = self._question
        if question.number is not None:
            yield question.number
        elif self._store.is_writing:
            # A writer reads its own writes.
            yield self._sum(self._store.facts, (GENERATION, PASSAGE_GENERATION))
        else:
            with self._reading_from(*self._begin()) as number:
                yield number

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Commit writes of this block at its end, independently of the request, visible to all others.

        The request reads the same generation afterwards. Only data outside of generations may be written.
        """
        question = self._question
        yield
        if question.number is None or question.cursor is None:
            return
        question.cursor.execute("COMMIT")
        question.cursor = self._resume(question.number, question.cursor)
        self._store.use(question.cursor)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Hold during the transaction for the next generation: requests use the previous one until that is prepared.

        For one writer at a time; nested calls join the outer one.
        """
        with self._changing:
            self._depth += 1
            try:
                if self._depth == 1:
                    self._hold()
                yield
                if self._depth == 1:
                    self._prepare()
            finally:
                self._depth -= 1
                if not self._depth:
                    self._publish()

    def close(self) -> None:
        """End background work, and close all cursors."""
        for end in self._closers:
            end()
        # What hangs on them is released at once: it takes most of the memory of an open project.
        self._closers.clear()
        self._preparers.clear()
        with self._changed:
            for cursor in (*self._idle, *self._spares):
                cursor.close()
            self._idle.clear()
            self._spares.clear()

    # --- questions ---

    @contextmanager
    def _reading_from(self, number: int, cursor: Cursor) -> Iterator[int]:
        question = self._question
        question.number, question.cursor, question.code = number, cursor, None
        before = self._store.use(cursor)
        try:
            yield number
        finally:
            self._store.use(before)
            last = question.cursor
            question.number = question.cursor = None
            endings, question.endings = question.endings, []
            if last is not None:
                self._return_cursor(number, last)
            for end in endings:
                end()

    def _begin(self) -> tuple[int, Cursor]:
        """Begin to read the published generation."""
        cursor = self._cursor()
        while True:
            number = self._start(cursor)
            with self._changed:
                if self._published is None or number == self._published:
                    return number, cursor
                # The next one is committed, and not ready yet.
                _end(cursor)
                self._changed.wait_for(lambda: self._spares or self._published is None, _WAIT_S)
                if self._spares and self._published is not None:
                    self._idle.append(cursor)
                    return self._published, self._spares.pop()

    def _resume(self, number: int, cursor: Cursor) -> Cursor:
        """Begin to read a generation that this thread has just read; the current one if it is gone."""
        if self._start(cursor) == number:
            return cursor
        with self._changed:
            self._changed.wait_for(lambda: self._spares or self._published != number, _WAIT_S)
            if self._published == number and self._spares:
                _end(cursor)
                self._idle.append(cursor)
                return self._spares.pop()
        return cursor

    def _return_cursor(self, number: int, cursor: Cursor) -> None:
        with self._changed:
            # Until the next one is published, others need a transaction that still sees this one.
            if number == self._published and _is_whole(cursor):
                self._spares.append(cursor)
                self._changed.notify()
                return
            _end(cursor)
            self._idle.append(cursor)
            while len(self._idle) > SPARES:
                self._idle.pop().close()

    def _cursor(self) -> Cursor:
        with self._changed:
            if self._idle:
                return self._idle.pop()
        return self._store.open_cursor()

    def _start(self, cursor: Cursor) -> int:
        """Begin a transaction; its first query determines its snapshot."""
        cursor.execute("BEGIN")
        cursor.facts = dict(cursor.execute(FACTS).fetchall())
        return self._sum(cursor.facts, (GENERATION, PASSAGE_GENERATION))

    def _sum(self, facts: Mapping[str, str], keys: tuple[str, ...]) -> int:
        number = 0
        for key in keys:
            text = facts.get(key, "0")
            try:
                number += int(text)
            except ValueError as error:
                raise self._store.unreadable(key, text) from error
        return number

    # --- changes ---

    def _hold(self) -> None:
        """Keep the current generation readable."""
        spares = [self._cursor() for _ in range(SPARES)]
        # A transaction's snapshot is taken at its first query, and nothing else creates a generation now.
        for cursor in spares[1:]:
            cursor.facts = None
            cursor.execute("BEGIN")
            cursor.execute(_NOTHING)
        number = self._start(spares[0])
        with self._changed:
            self._spares.extend(spares)
            self._published = number

    def _prepare(self) -> None:
        cursor = self._cursor()
        with self._reading_from(self._start(cursor), cursor) as number:
            if number == self._published:
                return
            for prepare in self._preparers:
                # The first request builds missing data, and reports problems.
                with suppress(CmError, duckdb.Error):
                    prepare(number)

    def _publish(self) -> None:
        with self._changed:
            self._published = None
            for cursor in self._spares:
                _end(cursor)
            self._idle.extend(self._spares)
            self._spares.clear()
            while len(self._idle) > SPARES:
                self._idle.pop().close()
            self._changed.notify_all()


def _end(cursor: Cursor) -> None:
    with suppress(duckdb.Error, StoreError):
        cursor.execute("ROLLBACK")


def _is_whole(cursor: Cursor) -> bool:
    """Whether a transaction can still be used; an error in a query ends it."""
    try:
        cursor.execute("SELECT 1").fetchone()
    except (duckdb.Error, StoreError):
        return False
    return True
