"""How failures end a command: a message on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from cm_tui import __version__
from cm_tui.errors import CmError

STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

_UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def guarded(command: Callable[[], int]) -> int:
    """Run a command, and turn every failure into a message and an exit code."""
    try:
        code = command()
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last resort; the report is kept in a file
        return failed(error)
    return code


def failed(error: BaseException) -> int:
    """Report the failure that is being handled, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        # The reader has gone (`cm … | head`): close quietly, as other commands do.
        _drop_output()
        return 0
    if _was_stopped(error):
        # DuckDB raises a RuntimeError of its own when the key comes in the middle of a query.
        return _stopped()
    if isinstance(error, CmError):
        _complain(error.message, error.hint)
        return error.exit_code
    return _unexpected(error)


def _stopped() -> int:
    _complain("Stopped.", "Completed work is kept; the next index run continues from there.")
    return STOPPED


def _was_stopped(error: BaseException | None) -> bool:
    """Whether an error comes from cleaning up after the key: what was closed early is no news to who stopped it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _unexpected(error: BaseException) -> int:
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        name = error.object.encode("utf-8", "backslashreplace").decode()
        _complain(f"{name} is not valid UTF-8.", "Rename the folder: git's library and the store require UTF-8.")
        return 2
    if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
        _drop_output()
        hint = "It is not writable." if error.errno == errno.EBADF else "Free some disk space at its destination."
        # The command ran: to run it again because of the exit code would do the same twice.
        _complain(f"Cannot write the output: {error.strerror}.", f"{hint} Changes made by the command remain.")
        return 1
    if isinstance(error, FileNotFoundError) and error.filename is None and _is_homeless():
        _complain("The current folder no longer exists.", "Change to another folder, then try again.")
        return 1
    if isinstance(error, OSError) and error.filename is not None:
        # A path from the command line, or a folder that is missing or not accessible.
        _complain(f"{error.strerror}: {error.filename}", f"The details are in {_keep_report()}.")
        return 1
    from cm_tui.engine.api.outgoing import without_secrets

    message = without_secrets(f"Internal error: {type(error).__name__}: {error}")
    _complain(message, f"The details are in {_keep_report()}.")
    return 1


def _drop_output() -> None:
    """Send what is still buffered nowhere, so that the interpreter does not fail on it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _is_homeless() -> bool:
    """Whether the current folder was deleted: the system names no file then."""
    try:
        return not Path.cwd().exists()
    except FileNotFoundError:
        return True


def _complain(message: str, hint: str = "") -> None:
    from cm_tui.cli.output import narrate

    narrate(f"cm: {message}")
    if hint:
        narrate(f"    {hint}")


def _keep_report() -> Path | str:
    from cm_tui import paths
    from cm_tui.engine.api.outgoing import without_secrets
    from cm_tui.files import write_atomically

    try:
        file = paths.private_dir(paths.state_dir()) / "error.log"
        # An error may quote an address, a command or a file.
        text = without_secrets(f"cm {__version__}\n{traceback.format_exc()}")
        write_atomically(file, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        return f"no file ({error})"
    return file
