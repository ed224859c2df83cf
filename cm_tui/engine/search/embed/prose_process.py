"""Embedding much prose in a separate process, so that the model and its work stay out of this one."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Sequence
from functools import cache

import numpy as np

from cm_tui.engine.search.embed.prose import DIMENSIONS, ProseProvider
from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.engine.search.embed.worker_process import EmbeddingProcess

MANY = 64
"""From so many texts on a process is worth its start, of a second."""
MOST_PROCESSES = 2
_PIECE = 4
"""Texts for a process at once: they differ in length, and each process gets the next ones as it is free."""
IDLE_S = 20.0
"""Idle time after which it ends."""
_log = logging.getLogger(__name__)


class ProseBeside:
    """The model of prose for passages: other processes embed large batches, this one small ones."""

    dimensions = DIMENSIONS

    def __init__(self, own: ProseProvider) -> None:
        self.fingerprint = own.fingerprint
        self.batch = own.batch
        self.left = 0
        """Estimated number of texts to come."""
        self._own = own
        self._lock = threading.Lock()
        self._process: EmbeddingProcess | None = None
        self._used = 0.0

    def check(self) -> None:
        """Compare the model's files with their checksums.

        Raises ModelError if one of them is missing or damaged.
        """
        self._own.check()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages: unit rows (n, 384).

        Raises ModelError if a file of the model is missing or damaged.
        """
        with self._lock:
            if self._process is None and self.left < MANY:
                return self._own.embed(texts)
            if self._process is None:
                size = min(MOST_PROCESSES, os.cpu_count() or 1)
                self._process = EmbeddingProcess("prose", size)
                self.batch = self._own.batch * size
                atexit.register(self._process.close)
            self._used = time.monotonic()
            vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
            self._process.prepare(texts, _PIECE)
            missing = self._process.take(texts, vectors)
            if missing:
                _log.warning("a process that embeds prose was lost: this one does its work")
                self._end()
        if missing:
            vectors[missing] = self._own.embed([texts[position] for position in missing])
        return vectors

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (384,).

        Raises ModelError if a file of the model is missing or damaged.
        """
        return self._own.embed_query(text)

    def let_go_if_unused(self) -> None:
        """End the process after idle time."""
        if self._process is None or not self._lock.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._used > IDLE_S:
                self._end()
        finally:
            self._lock.release()

    def _end(self) -> None:
        process, self._process = self._process, None
        self.batch = self._own.batch
        if process is not None:
            atexit.unregister(process.close)
            process.close()


@cache
def beside(own: ProseProvider) -> ProseBeside:
    """Return the one of this process."""
    return ProseBeside(own)


def embed_many(own: ProseProvider, texts: Sequence[str]) -> Matrix:
    """Embed a large number of texts, with a process per core for the duration of the call: unit rows (n, 384).

    `own`: embeds small batches in this process, and those of a lost process. Raises ModelError if a file of the model
    is missing or damaged.
    """
    if len(texts) < MANY:
        return own.embed(texts)
    vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
    processes = EmbeddingProcess("prose", min(MOST_PROCESSES, os.cpu_count() or 1))
    try:
        processes.prepare(texts, ProseProvider.batch)
        missing = processes.take(texts, vectors)
    finally:
        processes.close()
    if missing:
        vectors[missing] = own.embed([texts[place] for place in missing])
    return vectors
