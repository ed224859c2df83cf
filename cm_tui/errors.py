"""The error tree: every failure that a user can cause, with its exit code.

::

    CmError                    exit 1   something failed; the message says what, where and what to do next
    ├── UsageError             exit 2   the words of a command or a setting are wrong
    │   └── ConfigError        exit 2   a configuration file cannot be read or understood
    ├── NotFoundError          exit 3   something was named and is not there
    │   └── NotIndexedError    exit 3   the project has no index yet
    ├── RefusedError           exit 4   unsafe root, or a path outside the project
    ├── StoreBusyError         exit 5   another process has the store
    ├── StoreError             exit 1   the store cannot be opened, read or written
    │   ├── StoreDamagedError           truncated, overwritten or not a database: `cm rebuild` recreates it
    │   ├── StoreTooNewError            written by a newer cm
    │   └── StoreReadOnlyError          it can be read here, and not written
    ├── ModelError             exit 1   an embedding model is missing, damaged or not reachable
    ├── DaemonError            exit 1   the daemon cannot be started, or does not answer
    └── CancelledError         exit 1   the user cancelled; what was done so far is kept
"""

from __future__ import annotations


class CmError(Exception):
    """A failure with a message for the user.

    `message`: what happened, where, and what follows from it. `hint`: what to do next; shown on a line of its own.
    `finding`: name of the damage that was met, as `cm doctor` lists it; empty when nothing is damaged.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "", finding: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.finding = finding

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message

    @property
    def one_line(self) -> str:
        """Message and hint on one line."""
        return f"{self.message} {self.hint}".strip()


class UsageError(CmError):
    """The words of a command or a setting are wrong."""

    exit_code = 2


class ConfigError(UsageError):
    """A configuration file cannot be read or understood."""


class NotFoundError(CmError):
    """Something was named and is not there."""

    exit_code = 3


class NotIndexedError(NotFoundError):
    """The project has no index yet."""


class RefusedError(CmError):
    """An unsafe root, or a path outside the project."""

    exit_code = 4


class StoreBusyError(CmError):
    """Another process has the store open."""

    exit_code = 5


class StoreError(CmError):
    """The store cannot be opened, read or written."""


class StoreDamagedError(StoreError):
    """The store is truncated, overwritten or not a database."""


class StoreTooNewError(StoreError):
    """The store was written by a newer version of cm."""


class StoreReadOnlyError(StoreError):
    """The store can be read here, and not written."""


class ModelError(CmError):
    """An embedding model is missing, damaged or not reachable."""


class DaemonError(CmError):
    """The daemon cannot be started, or does not answer."""


class CancelledError(CmError):
    """The user cancelled; what was done so far is kept."""


def no_current_folder(error: OSError) -> NotFoundError:
    """Return the error for a current folder that was deleted or cannot be entered."""
    return NotFoundError(f"Cannot find the current folder: {error}.", hint="Change to another folder, then try again.")
