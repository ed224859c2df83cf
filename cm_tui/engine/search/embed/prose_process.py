"""The model of prose in separate processes: two for a large number of passages, and in the daemon one for all else.

So the model and its work, 150 MB, stay out of a process that lives long, and end with the other one.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Sequence
from functools import cache

import numpy as np

from cm_tui import worker_process
from cm_tui.engine.search.embed.prose import DIMENSIONS, ProseProvider
from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.engine.search.embed.worker_process import EmbeddingProcess, Model

MANY = 64
"""From so many texts on a process is worth its start, of a second."""
MOST_PROCESSES = 2
_PIECE = 4
"""Texts for a process at once: they differ in length, and each process gets the next ones as it is free."""
IDLE_S = 30.0
"""Idle time after which a process ends."""
_log = logging.getLogger(__name__)


class _ModelProcess:
    """One or more processes with the model, started when needed, and ended by `end_if_unused`."""

    def __init__(self, model: Model, size: int = 1) -> None:
        self._model = model
        self._size = size
        self._lock = threading.Lock()
        self._process: EmbeddingProcess | None = None
        self._used = 0.0

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def embed(self, texts: Sequence[str]) -> tuple[Matrix, list[int]]:
        """Return a row for each text, and the positions of those that a lost process did not embed."""
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        with self._lock:
            if self._process is None:
                self._process = EmbeddingProcess(self._model, self._size)
                atexit.register(self._process.close)
            self._process.prepare(texts, _PIECE)
            missing = self._process.take(texts, vectors)
            self._used = time.monotonic()
            if missing:
                _log.warning("a process that embeds prose ended unexpectedly: continuing in this process")
                self.end()
        return vectors, missing

    def end_if_unused(self) -> None:
        """End the process after idle time."""
        if self._process is None or not self._lock.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._used > IDLE_S:
                self.end()
        finally:
            self._lock.release()

    def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            atexit.unregister(process.close)
            process.close()


class ProseProcesses:
    """The model of prose: separate processes embed large batches, and this one the rest.

    `own`: the model in this process.
    """

    dimensions = DIMENSIONS

    def __init__(self, own: ProseProvider) -> None:
        self.fingerprint = own.fingerprint
        self.batch = own.batch
        self.left = 0
        """Estimated number of texts to come."""
        self._own = own
        self._many = _ModelProcess("prose", min(MOST_PROCESSES, os.cpu_count() or 1))
        self._few: _ModelProcess | None = None

    def keep_apart(self) -> None:
        """Embed the rest in another process, too, and in this one only if that is lost: for the daemon."""
        self._few = _ModelProcess("prose_at_once")

    @property
    def has_ended(self) -> bool:
        """Return whether a question would wait for the start of another process."""
        return self._few is not None and not self._few.is_running

    def begin(self) -> None:
        """Start the process for questions in the background."""
        if self._few is not None:
            threading.Thread(target=self._few.embed, args=(("",),), name="cm-embed", daemon=True).start()

    def check(self) -> None:
        """Compare the model's files with their checksums.

        Raises ModelError if one of them is missing or damaged.
        """
        self._own.check()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed passages: unit rows (n, 384).

        Raises ModelError if a file of the model is missing or damaged.
        """
        is_much = self._many.is_running or self.left >= MANY
        self.batch = self._own.batch * (MOST_PROCESSES if is_much else 1)
        return self._embed(texts, self._many if is_much else self._few)

    def embed_query(self, text: str) -> Matrix:
        """Embed a question: one unit vector (384,).

        Raises ModelError if a file of the model is missing or damaged.
        """
        vector: Matrix = self._embed([text], self._few)[0]
        return vector

    def _embed(self, texts: Sequence[str], process: _ModelProcess | None) -> Matrix:
        if process is None:
            return self._own.embed(texts)
        vectors, missing = process.embed(texts)
        if missing:
            vectors[missing] = self._own.embed([texts[position] for position in missing])
        return vectors

    def embed_many(self, texts: Sequence[str]) -> Matrix:
        """Embed any number of texts: unit rows.

        Raises ModelError if a file of the model is missing or damaged.
        """
        return self._embed(texts, self._many if len(texts) >= MANY else self._few)

    @property
    def is_running(self) -> bool:
        """Return whether a process of the model is running."""
        return any(process.is_running for process in (self._many, self._few) if process is not None)

    def release_if_unused(self, seconds: float) -> bool:
        """End idle processes; return whether the model was released in this one, unused for so many seconds."""
        for process in filter(None, (self._many, self._few)):
            process.end_if_unused()
        return self._own.release_if_unused(seconds)


@cache
def shared_provider() -> ProseProcesses:
    """Return the one of this process: the model is in memory only once, for any number of projects."""
    provider = ProseProcesses(ProseProvider())
    if worker_process.is_long_lived:
        provider.keep_apart()
    return provider
