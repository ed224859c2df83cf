"""Lock between writers that allot numbers to blobs: one index run, or one short batch, at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import Cancel

_STORING_S = 0.3
"""How long a question waits for an index run that stores its files."""


class WriterLock:
    """Lock of one store. An index run goes before the next batch, and so does a request that has to write."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taken = False
        self._runs = 0
        self._numbering = False
        """Whether the current run may still allot numbers to blobs."""
        self._lets_in = False
        """Whether the holder has no long transaction: a writer without numbers may then write concurrently."""
        self._beside = False
        """Whether such a change is being written."""
        self._questions = 0
        self.readers = 0
        """How many writers work in batches."""

    @classmethod
    def of(cls, db: Database) -> WriterLock:
        """Return the lock that all who write to a store share."""
        return db.shared("writer_lock", lambda _: cls())

    @contextmanager
    def index_run(self) -> Iterator[None]:
        """Hold the lock for an index run: waits for a batch, but never for another run.

        Raises CmError if another run is under way.
        """
        with self._changed:
            if self._runs:
                raise CmError("This project is already being indexed.", hint="Wait until that run has ended.")
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
        """Let requests write: the current run has stored its files, and allots no more numbers."""
        with self._changed:
            self._end_numbering()
            self._changed.notify_all()

    def _end_numbering(self) -> None:
        if self._numbering:
            self._taken = self._numbering = False

    @contextmanager
    def letting_in(self) -> Iterator[None]:
        """Let short changes without numbers run concurrently, while the holder reads and parses."""
        with self._changed:
            self._lets_in = True
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._lets_in = False
                # Changes that began concurrently are short.
                self._changed.wait_for(lambda: not self._beside)

    @contextmanager
    def question(self) -> Iterator[None]:
        """Hold the lock for a short change that a request waits for: goes before all batches."""
        with self._changed:
            self._questions += 1
            self._changed.wait_for(lambda: not self._taken)
            self._taken = True
        with self._held(questions=1):
            yield

    @contextmanager
    def batch(self, cancel: Cancel, *, of_run: bool = False) -> Iterator[None]:
        """Hold the lock for a short change, after its current holder and waiting requests.

        `cancel`: checked while it waits; `of_run`: it allots no numbers, and may belong to the current run: it waits
        only while that run allots numbers. Raises CancelledError if it was cancelled while it waited.
        """
        with self._changed:
            while self._taken or (self._runs and not of_run) or self._questions:
                cancel.check()
                self._changed.wait(0.2)
            self._taken = True
        with self._held():
            yield

    @contextmanager
    def batch_if_free(self) -> Iterator[bool]:
        """Hold the lock for a short change if it is free and has no waiters; yield whether it is held."""
        with self._changed:
            held = not (self._taken or self._runs)
            self._taken = self._taken or held
        with self._held() if held else nullcontext():
            yield held

    @contextmanager
    def _held(self, questions: int = 0) -> Iterator[None]:
        """Release the lock after a block. `questions`: how many requests it was for."""
        try:
            yield
        finally:
            with self._changed:
                self._questions -= questions
                self._taken = False
                self._changed.notify_all()

    @contextmanager
    def question_within(self, seconds: float) -> Iterator[bool]:
        """Hold the lock for a short change that a request waits for, but not for long; yield whether it is held.

        It allots no numbers to blobs: an index run or a batch that only reads and parses runs concurrently. A run that
        stores its files takes longer, and is not waited for as long.
        """
        with self._changed:
            self._questions += 1
            beside = self._wait_to_enter(seconds)
            if beside is None:
                self._questions -= 1
                self._changed.notify_all()
        try:
            yield beside is not None
        finally:
            if beside is not None:
                with self._changed:
                    self._questions -= 1
                    if beside:
                        self._beside = False
                    else:
                        self._taken = False
                    self._changed.notify_all()

    def _wait_to_enter(self, seconds: float) -> bool | None:
        """Take the lock, or a concurrent place (True); None when neither was free in time."""
        until = time.monotonic() + seconds
        while True:
            if not self._taken:
                self._taken = True
                return False
            if self._lets_in and not self._beside:
                self._beside = True
                return True
            stores = self._numbering and not self._lets_in
            left = min(until - time.monotonic(), _STORING_S) if stores else until - time.monotonic()
            if left <= 0 or (not self._changed.wait(left) and stores):
                return None

    @property
    def is_wanted(self) -> bool:
        """Whether an index run is under way or waits, or a question does."""
        return self._runs > 0 or self._questions > 0
