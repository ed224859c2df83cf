"""Worker process that parses: batches of blobs come in, columns of rows go out, as pickles on two pipes.

The pickles are exchanged only with a process that this program started itself.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from typing import BinaryIO, NamedTuple

from cm_tui.engine.code.parse.records import ParsedBlob
from cm_tui.engine.code.parse.row_batches import Batch, columns_of
from cm_tui.engine.code.scan.languages import EXTRACTOR_VERSION

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    # Before the first blob is announced, which would be blamed for errors here.
    import_module("cm_tui.engine.code.parse.parse_blob")
    inward = os.fdopen(os.dup(0), "rb")
    outward = os.fdopen(os.dup(1), "wb")
    # A parser's output must not get between the pickles.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.stdout = sys.stderr
    # Rows and nodes by the hundred thousand make the collector look at them over and over: a quarter of the time.
    gc.disable()
    while True:
        try:
            tasks: list[Task] = pickle.load(inward)  # noqa: S301 - from our own parent process
        except EOFError:
            return
        done: list[tuple[int, ParsedBlob]] = []
        for index, task in enumerate(tasks):
            _send(outward, index)
            _limit(seconds)
            done.extend(parse_tasks([task]))
        _limit(0.0)
        _send(outward, columns_of(done, EXTRACTOR_VERSION))
        done.clear()
        gc.collect(1)


def _limit(seconds: float) -> None:
    """End this process once it has used so much more CPU; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _send(outward: BinaryIO, message: object) -> None:
    pickle.dump(message, outward, protocol=pickle.HIGHEST_PROTOCOL)
    outward.flush()
