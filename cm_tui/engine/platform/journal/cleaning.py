"""Redacting secrets in many foreign events, on several cores, in the order given."""

from __future__ import annotations

import json
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
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
        self._done_here = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def clean(self, events: Iterable[Raw]) -> Iterator[tuple[Any, bytes]]:
        """Yield each event's own data, and its line, in order; events are read as the work goes on."""
        waiting: deque[tuple[list[Raw], Future[Sequence[bytes]]]] = deque()
        for batch, size in _batches(events):
            waiting.append((batch, self._begin(batch, size)))
            # Enough in flight to keep every process busy, few enough to keep memory small.
            while waiting and (len(waiting) > 2 * self._size or waiting[0][1].done()):
                yield from _with_lines(*waiting.popleft())
        while waiting:
            yield from _with_lines(*waiting.popleft())

    def _begin(self, batch: list[Raw], size: int) -> Future[Sequence[bytes]]:
        is_clean = all(raw.is_clean for raw in batch)
        if self._size > 1 and not is_clean and self._done_here + size > SMALL_BYTES:
            return self._submit(_elsewhere, batch)
        self._done_here += 0 if is_clean else size
        done: Future[Sequence[bytes]] = Future()
        done.set_result(_lines(batch))
        return done


def _elsewhere(worker: _Worker, batch: list[Raw]) -> Sequence[bytes]:
    try:
        return worker.lines(batch)
    except (OSError, ValueError):
        # No process can be had, or it was ended: the same work is done here.
        worker.stop()
        return _lines(batch)


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


def _with_lines(batch: Iterable[Raw], lines: Future[Sequence[bytes]]) -> Iterator[tuple[Any, bytes]]:
    for raw, line in zip(batch, lines.result(), strict=True):
        yield raw.what, line


def _batches(events: Iterable[Raw]) -> Iterator[tuple[list[Raw], int]]:
    batch: list[Raw] = []
    size = 0
    for raw in events:
        batch.append(raw)
        size += _CLEAN if raw.is_clean else _size(raw.fields["data"])
        if size >= BATCH_BYTES:
            yield batch, size
            batch, size = [], 0
    if batch:
        yield batch, size


def _size(value: Any) -> int:
    """Return about how many characters a value has."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list | tuple) else 8
