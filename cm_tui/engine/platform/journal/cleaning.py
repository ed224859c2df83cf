"""Redacting secrets in many foreign events, on several cores, in the order given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, Self

from cm_tui.engine.platform.journal.event import clean_line, line_of
from cm_tui.worker_process import Worker, WorkerPool, batches, serve

BATCH_BYTES = 200_000
SMALL_BYTES = 400_000
"""Below this a process would take longer to start than it saves."""
_CLEAN = 1_000
"""Counted for an event that nothing is looked for in."""
_START = "import cm_tui.engine.platform.journal.cleaning as cleaning; cleaning.main()"


class Raw(NamedTuple):
    """An event in progress."""

    what: Any
    """The caller's own data, returned with its line."""
    fields: Mapping[str, Any]
    """Its id, time, kind, head and data."""
    is_clean: bool = False
    """Secrets were taken out of it by the rules of today: nothing is looked for in it again."""


class Cleaner(WorkerPool[Worker]):
    """Takes secrets out of events; a context manager that ends its processes.

    `workers`: processes at most; 0: one a core.
    """

    def __init__(self, workers: int = 0) -> None:
        super().__init__(workers, "cm-clean", lambda: Worker(_START))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def clean(self, events: Iterable[Raw]) -> Iterator[tuple[Any, bytes]]:
        """Yield each event's own data, and its line, in order; events are read as the work goes on."""
        found = batches(events, lambda raw: _CLEAN if raw.is_clean else _size(raw.fields["data"]), BATCH_BYTES)
        # A process takes longer to start than a few events take here.
        for batch in islice(found, SMALL_BYTES // BATCH_BYTES + 1 if self._size > 1 else None):
            yield from _with_lines(batch, _lines(batch))
        for done in self._spread(_elsewhere, found):
            yield from done


def _elsewhere(worker: Worker, batch: list[Raw]) -> list[tuple[Any, bytes]]:
    if all(raw.is_clean for raw in batch):
        return _with_lines(batch, _lines(batch))
    try:
        return _with_lines(batch, worker.exchange([raw._replace(what=None) for raw in batch]))
    except OSError:
        # No process can be had, or it was ended: the same work is done here.
        worker.stop()
        return _with_lines(batch, _lines(batch))


def main() -> None:
    """Serve batches until the other end closes."""
    serve(_lines)


def _lines(batch: Iterable[Raw]) -> list[bytes]:
    return [line_of(raw.fields) if raw.is_clean else clean_line(raw.fields) for raw in batch]


def _with_lines(batch: Iterable[Raw], lines: Iterable[bytes]) -> list[tuple[Any, bytes]]:
    return [(raw.what, line) for raw, line in zip(batch, lines, strict=True)]


def _size(value: Any) -> int:
    """Return about how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 8
