"""Embedding texts ahead of time in separate processes, while this one is busy."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Literal

from cm_tui.engine.search.embed.provider import Matrix
from cm_tui.worker_process import Worker, WorkerPool

Model = Literal["code", "prose", "prose_at_once"]
"""What a process runs: a function of `worker`."""


class EmbeddingProcess(WorkerPool[Worker]):
    """Vectors in progress, by text; a text is handed out once.

    It is optional: vectors missing because of a lost process are computed elsewhere. `model`: which one it runs;
    `size`: number of processes.
    """

    def __init__(self, model: Model = "code", size: int = 1) -> None:
        start = f"import cm_tui.engine.search.embed.worker as worker; worker.{model}()"
        super().__init__(size, "cm-embed", lambda: Worker(start))
        self._rows: dict[str, tuple[Future[Matrix], int]] = {}

    def __len__(self) -> int:
        """Return how many texts are prepared and not taken yet."""
        return len(self._rows)

    def prepare(self, texts: Sequence[str], batch: int) -> None:
        """Begin to embed texts, `batch` at a time; returns at once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        for first in range(0, len(new), batch):
            part = new[first : first + batch]
            future: Future[Matrix] = self._submit(Worker.exchange, part)
            self._rows |= {text: (future, row) for row, text in enumerate(part)}

    def take(self, texts: Sequence[str], into: Matrix) -> list[int]:
        """Fill in the prepared rows, waiting for them if needed. Returns positions of the missing texts."""
        missing: list[int] = []
        # The same text may be there twice.
        taken = {text: self._rows.pop(text, (None, 0)) for text in set(texts)}
        for position, (future, row) in enumerate(taken[text] for text in texts):
            if future is None or future.exception() is not None:
                missing.append(position)
            else:
                into[position] = future.result()[row]
        return missing

    def close(self) -> None:
        """End the processes and drop pending results."""
        self._rows.clear()
        super().close()
