"""The application in a process of its own on a real terminal, as a person has it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

ROOT = Path(__file__).parents[2]
PATIENCE = 60
"""Seconds after which something is taken never to happen."""


class Terminal:
    """Runs Python code on a terminal of 120 by 40; keys go in, what it draws and says comes out."""

    def __init__(self, code: str, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environ = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        # What the runner of the tests says of its own terminal is not that of this one.
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            environ.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environ,
            start_new_session=True,
            # What a shell starts in the background ignores Ctrl-C, and so would this process.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no thread here
        )
        os.close(slave)
        self.drawn = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self.hang_up()

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def hang_up(self) -> None:
        """Close the terminal: what the process reads and writes from now on fails."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def until(self, holds: Callable[[], bool]) -> None:
        """Read what is drawn until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"It never came to that. Drawn last: {self.drawn[-300:]!r}")
            self._read(0.02)

    def _read(self, seconds: float) -> None:
        if select.select([self._master], [], [], seconds)[0]:
            try:
                self.drawn += os.read(self._master, 65536)
            except OSError:  # nobody is at the other end any more
                time.sleep(seconds)
