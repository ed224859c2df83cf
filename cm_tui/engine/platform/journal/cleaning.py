"""Redacting secrets in many foreign events, on several cores, in the order given."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, Self

from cm_tui.engine.platform.journal.event import clean_line, line_of
from cm_tui.worker_process import Worker, WorkerPool

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


class Cleaner(WorkerPool["_Worker"]):
    """Takes secrets out of events; a context manager that ends its processes.

    `workers`: processes at most; 0: one a core.
    """

    def __init__(self, workers: int = 0) -> None:
        super().__init__(workers, "cm-clean", lambda: _Worker(_START))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def clean(self, events: Iterable[Raw]) -> Iterator[tuple[Any, bytes]]:
        """Yield each event's own data, and its line, in order; events are read as the work goes on."""
        batches = _batches(events)
        # A process takes longer to start than a few events take here.
        for batch in islice(batches, SMALL_BYTES // BATCH_BYTES + 1 if self._size > 1 else None):
            yield from _with_lines(batch, _lines(batch))
        for done in self._spread(_elsewhere, batches):
            yield from done


def _elsewhere(worker: _Worker, batch: list[Raw]) -> list[tuple[Any, bytes]]:
    if all(raw.is_clean for raw in batch):
        return _with_lines(batch, _lines(batch))
    try:
        return _with_lines(batch, worker.lines(batch))
    except (OSError, ValueError):
        # No process can be had, or it was ended: the same work is done here.
        worker.stop()
        return _with_lines(batch, _lines(batch))


class _Worker(Worker):
    def lines(self, batch: Sequence[Raw]) -> Sequence[bytes]:
        """Return the lines of a batch.

        Raises OSError if no process is available, or it was killed; ValueError if it was killed while writing.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        asked = b"".join(json.dumps([raw.fields, raw.is_clean]).encode() + b"\n" for raw in batch)
        process.stdin.write(b"%d\n" % len(batch) + asked)
        process.stdin.flush()
        done = [process.stdout.readline() for _ in batch]
        if not all(line.endswith(b"\n") for line in done):
            raise BrokenPipeError
        return done


def main() -> None:
    """Serve batches until the other end closes, as it does when its process is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inward, outward = sys.stdin.buffer, sys.stdout.buffer
    while head := inward.readline():
        # Read all of it first: the writer does not read before it is done.
        batch = [json.loads(inward.readline()) for _ in range(int(head))]
        _send(outward, _lines([Raw(None, fields, is_clean) for fields, is_clean in batch]))


def _send(outward: BinaryIO, lines: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError):
        outward.write(b"".join(lines))
        outward.flush()


def _lines(batch: Iterable[Raw]) -> list[bytes]:
    return [line_of(raw.fields) if raw.is_clean else clean_line(raw.fields) for raw in batch]


def _with_lines(batch: Iterable[Raw], lines: Iterable[bytes]) -> list[tuple[Any, bytes]]:
    return [(raw.what, line) for raw, line in zip(batch, lines, strict=True)]


def _batches(events: Iterable[Raw]) -> Iterator[list[Raw]]:
    batch: list[Raw] = []
    size = 0
    for raw in events:
        batch.append(raw)
        size += _CLEAN if raw.is_clean else _size(raw.fields["data"])
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _size(value: Any) -> int:
    """Return about how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 8
