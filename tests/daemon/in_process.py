"""The daemon inside the test's own process: the same lock, socket, requests and end, without a start of Python.

A daemon's process costs a second or two of the processor before it answers, a thread a few milliseconds. What is tested
of the process itself (a kill, a hang, another version, other settings) runs as one: such tests have the mark `process`.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from unittest import mock

from cm_tui.cli.daemon import extensions
from cm_tui.daemon import bootstrap, daemon_log, process
from cm_tui.engine.memory.notes import scan
from cm_tui.errors import CmError

_LOGGERS = ("cm_tui", "uvicorn.error")
_END_S = 60.0


class DaemonThread:
    """A daemon on a thread, as `bootstrap` sees the process that it starts.

    Args:
        complaints: where it writes why it could not start.
    """

    def __init__(self, complaints: IO[bytes]) -> None:
        self.returncode: int | None = None
        # Whoever starts it closes theirs.
        self._complaints = os.fdopen(os.dup(complaints.fileno()), "wb")
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="cm-daemon", daemon=True)
        self._thread.start()

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        return self.returncode

    def join(self) -> None:
        """Wait for its end; what went wrong in it fails the test."""
        self._thread.join(_END_S)
        assert not self._thread.is_alive(), "the daemon does not end"
        if self._failure is not None:
            raise self._failure

    def _serve(self) -> None:
        code = 0
        try:
            process.serve(extensions, background=True)
        except CmError as error:
            self._complaints.write(str(error).encode())
            code = error.exit_code
        except BaseException as error:  # noqa: BLE001 - raised where the test joins it
            self._failure, code = error, 1
        self._complaints.close()
        self.returncode = code


@contextmanager
def daemons_in_process() -> Iterator[None]:
    """Each daemon that is started is a thread of this process; they have to be told to end before the block does."""
    started: list[DaemonThread] = []

    def spawn(complaints: IO[bytes]) -> DaemonThread:
        started.append(DaemonThread(complaints))
        return started[-1]

    with (
        # Its umask would be that of the test, too.
        mock.patch.object(process, "_set_up_process"),
        mock.patch.object(bootstrap, "_spawn", spawn),
        _own_log(),
    ):
        yield
        for daemon in started:
            daemon.join()
        # A project of the next test may lie in the same place.
        for project in {key[0] for key in scan._watched}:
            scan.forget(Path(project))


@contextmanager
def _own_log() -> Iterator[None]:
    """What logs to the home of this test ends with it."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [(list(logger.handlers), logger.level) for logger in loggers]
    set_up: list[str] = []

    def once() -> None:
        if not set_up:
            set_up.append("done")
            daemon_log.set_up_log()

    with mock.patch.object(process, "set_up_log", once):
        yield
    for logger, (handlers, level) in zip(loggers, before, strict=True):
        for handler in set(logger.handlers) - set(handlers):
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(level)
