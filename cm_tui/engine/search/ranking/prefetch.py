"""Background loading of data for the next queries."""

from __future__ import annotations

import threading

import duckdb

from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.near_names import NearNames
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.errors import CmError

_QUIET = 1.0
"""Seconds that it leaves to the questions that come first; after an edit there are often several."""
_AFTER = 2
"""Queries after which it begins: a process with a single query is faster without it."""


class Prefetch:
    """One thread that loads the keyword index, names and the passages' records, again after each change of the passages.

    It is optional: missing data is read on demand.
    """

    def __init__(self, keyword: KeywordIndex, names: NearNames, records: PassageCache) -> None:
        self._keyword = keyword
        self._names = names
        self._records = records
        self._questions = 0
        self._generation = -1
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def asked(self, generation: int) -> None:
        """Note that a question was answered from this state of the passages."""
        with self._lock:
            self._questions += 1
            running = self._thread is not None and self._thread.is_alive()
            if self._questions < _AFTER or generation == self._generation or running or self._stop.is_set():
                return
            self._generation = generation
            self._thread = threading.Thread(target=self._read, name="cm-prefetch", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop reading, and wait until that has happened."""
        self._stop.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _read(self) -> None:
        if self._stop.wait(_QUIET):
            return
        try:
            self._keyword.read_all()
            self._names.read_all()
            self._records.read_all(self._stop)
        except (CmError, duckdb.Error):
            # The next query reads for itself, and reports problems.
            return
