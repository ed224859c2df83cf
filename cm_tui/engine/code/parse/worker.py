"""Worker process that parses: batches of blobs come in, columns of rows go out, as pickles on two pipes.

The pickles are exchanged only with a process that this program started itself.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NamedTuple

from cm_tui.engine.code.parse.records import Batch, ParsedBlob, columns_of
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION
from cm_tui.worker_process import serve_several

NICENESS = 10
"""Niceness: requests and editors go first. On an idle machine it costs nothing."""
CPU_SIGNAL = int(getattr(signal, "SIGPROF", 0))
"""What ends a worker that took too much CPU."""


class Task(NamedTuple):
    """Blob to parse."""

    id: int
    """Its number in the store."""
    oid: str
    language: str
    data: bytes
    encoding: str = ""
    """Its encoding declared elsewhere."""
    failed: str = ""
    """Why it is cut by lines only: an earlier attempt ended badly."""


def parse_tasks(tasks: Sequence[Task]) -> Iterator[tuple[int, ParsedBlob]]:
    """Parse one blob after the other; one that fails is split by lines, with the cause as its error."""
    for task in tasks:
        try:
            yield task.id, _parse(task)
        except Exception as error:  # noqa: BLE001 - one file must not stop the index; the cause is stored and listed
            yield task.id, _parse(task._replace(failed=f"{type(error).__name__}: {error}"))


def _parse(task: Task) -> ParsedBlob:
    from cm_tui.engine.code.parse.parse_blob import parse_blob

    parsed = parse_blob(task.oid, "text" if task.failed else task.language, task.data, task.encoding)
    if task.failed:
        parsed.language, parsed.error = task.language, task.failed
    return parsed


def parse_batch(tasks: Sequence[Task]) -> Batch:
    """Parse blobs in this process."""
    return columns_of(parse_tasks(tasks), EXTRACTOR_VERSION)


def main() -> None:
    """Serve batches until the other end closes; announces each blob before parsing it.

    The first argument is the CPU limit of a blob in seconds; the system ends a process that exceeds it.
    """
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    # Before the first blob is announced, which would be blamed for errors here.
    import_module("cm_tui.engine.code.parse.parse_blob")
    # Rows and nodes by the hundred thousand make the collector look at them over and over: a quarter of the time.
    gc.disable()
    serve_several(lambda tasks: _announced(tasks, seconds))


def _announced(tasks: Sequence[Task], seconds: float) -> Iterator[int | Batch]:
    """Yield the index of each blob before it is parsed, then the rows of all."""
    done: list[tuple[int, ParsedBlob]] = []
    for index, task in enumerate(tasks):
        yield index
        _limit(seconds)
        done.extend(parse_tasks([task]))
    _limit(0.0)
    yield columns_of(done, EXTRACTOR_VERSION)
    done.clear()
    gc.collect(1)


def _limit(seconds: float) -> None:
    """End this process once it has used so much more CPU; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
