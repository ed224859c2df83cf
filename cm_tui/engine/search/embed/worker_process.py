"""Embedding texts ahead of time in a separate process, while this one is busy."""

from __future__ import annotations

import pickle
import queue
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.worker_process import start

_START = "from cm_tui.engine.search.embed.worker import main; main()"
_Row = tuple[Future[Matrix], int]


class EmbeddingProcess:
    """Vectors in progress, by text; a text is handed out once.

    It is optional: vectors missing because of a lost process are computed elsewhere. `program`: code of the process.
    """

    def __init__(self, program: str = _START) -> None:
        self._program = program
        self._rows: dict[str, _Row] = {}
        self._work: queue.SimpleQueue[tuple[list[str], Future[Matrix]] | None] = queue.SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def prepare(self, texts: Sequence[str], batch: int) -> None:
        """Begin to embed texts, `batch` at a time; returns at once."""
        if self._thread is None:
            self._closing.clear()
            self._thread = threading.Thread(target=self._run, name="cm-embed", daemon=True)
            self._thread.start()
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        for first in range(0, len(new), batch):
            part = new[first : first + batch]
            future: Future[Matrix] = Future()
            self._rows |= {text: (future, row) for row, text in enumerate(part)}
            self._work.put((part, future))

    def take(self, texts: Sequence[str], into: Matrix) -> list[int]:
        """Fill in the prepared rows, waiting for them if needed. Returns positions of the missing texts."""
        missing: list[int] = []
        for position, text in enumerate(texts):
            future, row = self._rows.pop(text, (None, 0))
            if future is None or future.exception() is not None:
                missing.append(position)
            else:
                into[position] = future.result()[row]
        return missing

    def close(self) -> None:
        """End the process and drop pending results."""
        self._rows.clear()
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._closing.set()
        self._work.put(None)
        if self._process is not None:
            self._process.kill()
        thread.join()

    def _run(self) -> None:
        """Hand batches to the process, one after the other."""
        problem: Exception | None = None
        try:
            process = start(self._program)
        except OSError as error:
            process, problem = None, error
        self._process = process
        while item := self._work.get():
            texts, future = item
            try:
                if problem is not None or self._closing.is_set():
                    raise problem or EOFError
                future.set_result(_exchange(process, texts))
            except (OSError, EOFError, pickle.PickleError, ValueError) as error:
                problem = error
                future.set_exception(error)
        self._process = None
        if process is not None:
            process.kill()
            process.communicate()


def _exchange(process: subprocess.Popen[bytes] | None, texts: list[str]) -> Matrix:
    assert process is not None
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(texts, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
    rows: Matrix = pickle.load(process.stdout)  # noqa: S301 - from our own process
    if rows.shape[0] != len(texts):
        raise ValueError("the process answered something else")
    return rows
