"""The daemon's log: private, rotated, and without secrets."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
import threading
from io import TextIOWrapper
from typing import Any

from cm_tui import paths
from cm_tui.engine.platform.redaction.redact import redact

_log = logging.getLogger(__name__)


class _PrivateLog(logging.handlers.RotatingFileHandler):
    """A log that only the user can read, also after it was rotated."""

    def _open(self) -> TextIOWrapper[Any]:
        def opener(file: str, flags: int) -> int:
            return os.open(file, flags, 0o600)

        return TextIOWrapper(
            open(self.baseFilename, "ab", opener=opener),
            encoding=self.encoding,
            # Names of folders that are not UTF-8 are logged as escapes.
            errors="backslashreplace",
            line_buffering=True,
        )


class LoggedErrors(logging.Handler):
    """Counts the errors that were logged, and keeps the last one in a line."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.begin()

    def begin(self) -> None:
        """Count from nothing."""
        self.count, self.last = 0, ""

    def emit(self, record: logging.LogRecord) -> None:
        """Count one."""
        error = record.exc_info[1] if record.exc_info else None
        words = f"{record.getMessage()}: {error}" if error is not None else record.getMessage()
        self.count, self.last = self.count + 1, redact(words.split("\n", 1)[0]).text


errors = LoggedErrors()
"""Of this daemon."""


class _WithoutSecrets(logging.Formatter):
    """Lines of the log without secrets: an error may quote an address, a command or a file."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record)).text


def log_thread_error(failed: threading.ExceptHookArgs) -> None:
    """Log what ended a thread: Python writes it to a file that is neither rotated nor free of secrets."""
    if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
        name = failed.thread.name if failed.thread is not None else "?"
        _log.error("the thread %s ended", name, exc_info=failed.exc_value)


def set_up_log() -> None:
    """What happens goes to the log file, and to a terminal that watches; what is asked and answered does not."""
    file = paths.private_dir(paths.state_dir()) / "daemon.log"
    handlers: list[logging.Handler] = [_PrivateLog(file, maxBytes=1_000_000, backupCount=2, encoding="utf-8")]
    if sys.stderr is not None and sys.stderr.isatty():
        handlers.append(logging.StreamHandler(sys.stderr))
    errors.begin()
    for name, level in (("cm_tui", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        for handler in handlers:
            handler.setFormatter(_WithoutSecrets("%(asctime)s %(levelname)s %(message)s"))
            logger.addHandler(handler)
        logger.addHandler(errors)
