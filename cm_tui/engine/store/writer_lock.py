"""Lock between writers that give numbers to blobs: one index run, or one short batch, at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from cm_tui.engine.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import Cancel

_locks: WeakKeyDictionary[Database, WriterLock] = WeakKeyDictionary()
_making = threading.Lock()


class WriterLock:
    """Lock of one store. An index run goes before the next batch, and so does a question that has to write."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._runs = 0
        self._numbering = False
        """Whether the run under way may still give numbers to blobs."""
        self._questions = 0
        self.readers = 0
        """How many writers work in batches."""

    @classmethod
    def of(cls, db: Database) -> WriterLock:
        """Return the lock that all who write to a store share."""
        with _making:
            return _locks.setdefault(db, cls())

    @contextmanager
    def index_run(self) -> Iterator[None]:
        """Hold the lock for an index run: waits for a batch, but never for another run.

        Raises:
            CmError: another run is under way.
        """
        with self._changed:
            if self._runs:
                raise CmError("This project is being indexed already.", hint="Wait until that run has ended.")
            self._runs += 1
            self._changed.wait_for(lambda: not self._taken)
            self._taken = self._numbering = True
        try:
            yield
        finally:
            with self._changed:
                self._end_numbering()
                self._runs -= 1
                self._changed.notify_all()

    def end_numbering(self) -> None:
        """Let questions write: the run under way has stored its files, and what it goes on with gives no numbers."""
        with self._changed:
            self._end_numbering()
            self._changed.notify_all()

    def _end_numbering(self) -> None:
        if self._numbering:
            self._taken = self._numbering = False

    @contextmanager
    def question(self) -> Iterator[None]:
        """Hold the lock for a short change that a question waits for: goes before all batches."""
        with self._changed:
            self._questions += 1
            self._changed.wait_for(lambda: not self._taken)
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._questions -= 1
                self._taken = False
                self._changed.notify_all()

    @contextmanager
    def batch(self, cancel: Cancel) -> Iterator[None]:
        """Hold the lock for a short change: waits for whoever has it.

        Raises:
            CancelledError: it was cancelled while it waited.
        """
        with self._changed:
            while self._taken or self._runs or self._questions:
                cancel.check()
                self._changed.wait(0.2)
            self._taken = True
        try:
            yield
        finally:
            with self._changed:
                self._taken = False
                self._changed.notify_all()

    @contextmanager
    def batch_if_free(self) -> Iterator[bool]:
        """Hold the lock for a short change when nobody has it or waits for it; says whether it is held."""
        with self._changed:
            held = not (self._taken or self._runs)
            self._taken = self._taken or held
        try:
            yield held
        finally:
            if held:
                with self._changed:
                    self._taken = False
                    self._changed.notify_all()

    @contextmanager
    def question_within(self, seconds: float) -> Iterator[bool]:
        """Hold the lock for a short change that a question waits for, but not for long; says whether it is held."""
        with self._changed:
            self._questions += 1
            held = self._changed.wait_for(lambda: not self._taken, seconds)
            if held:
                self._taken = True
            else:
                self._questions -= 1
                self._changed.notify_all()
        try:
            yield held
        finally:
            if held:
                with self._changed:
                    self._questions -= 1
                    self._taken = False
                    self._changed.notify_all()

    @property
    def is_wanted(self) -> bool:
        """Whether an index run is under way or waits, or a question does."""
        return self._runs > 0 or self._questions > 0
