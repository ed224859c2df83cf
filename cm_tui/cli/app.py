"""The command line: one app, its families of commands, and how failures end it."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cm_tui import __version__
from cm_tui.cli import families
from cm_tui.cli.declare import Json, Project
from cm_tui.cli.options import PROJECT
from cm_tui.cli.output import WANTS_JSON
from cm_tui.errors import CmError, UsageError

HELP = """Ask the code and its history, see why each answer ranked where it did, and take the right context away.

`cm` alone opens the application on the repository around the current folder. Every command takes --project PATH
and --json, which may also stand before it; data goes to stdout, narration to stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not indexed or not found, 4 refused, 5 store in use.
"""

_STOPPED = 130
"""Exit code after Ctrl-C, as shells have it."""

_UNWRITABLE = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EBADF}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cm {__version__}")
        raise typer.Exit


def command_line(arguments: Sequence[str]) -> typer.Typer:
    """Make the app with the commands that these words may ask for."""
    app = typer.Typer(
        name="cm",
        help=HELP,
        no_args_is_help=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(main)
    families.register(app, arguments)
    return app


def main(
    context: typer.Context,
    project: Project = None,
    as_json: Json = False,
    episode: Annotated[
        str,
        typer.Option("--episode", help="Open the application at what an agent saw: an id of `cm episodes`, or `last`."),
    ] = "",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Open the application when no command is given."""
    from cm_tui import paths

    _ = version
    paths.settle_environment()
    if context.invoked_subcommand is not None:
        if episode:
            raise UsageError("--episode opens the application; it goes with no command.", hint="Try `cm episodes ID`.")
        PROJECT.set(project)
        WANTS_JSON.set(as_json)
        return
    if as_json:
        raise UsageError("The application shows no JSON.", hint="Name a command: cm --json status.")
    from cm_tui.cli.tui import launch

    raise typer.Exit(launch(project, episode))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and turn every failure into a message and an exit code.

    `arguments`: the words after `cm`. Returns the exit code.
    """
    try:
        code = _run(arguments)
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
    _complain("Stopped.", "What an index run had done is kept, and the next one goes on there.")
    return _STOPPED


def _was_stopped(error: BaseException | None) -> bool:
    """Whether an error comes from cleaning up after the key: what was closed early is no news to who stopped it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _unexpected(error: BaseException) -> int:
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        name = error.object.encode("utf-8", "backslashreplace").decode()
        _complain(f"{name} is not valid UTF-8.", "Give the folder another name: git's library and the store need it.")
        return 2
    if isinstance(error, OSError) and error.filename is None and error.errno in _UNWRITABLE:
        _drop_output()
        hint = "It is not open for writing." if error.errno == errno.EBADF else "Free some space where it goes."
        _complain(f"Cannot write the output: {error.strerror}.", hint)
        return 1
    if isinstance(error, FileNotFoundError) and error.filename is None and _is_homeless():
        _complain("The current folder no longer exists.", "Change to another folder, then try again.")
        return 1
    if isinstance(error, OSError) and error.filename is not None:
        # A path from the command line, or a folder that is missing or not accessible.
        _complain(f"{error.strerror}: {error.filename}", f"The details are in {_keep_report()}.")
        return 1
    _complain(f"Internal error: {type(error).__name__}: {error}", f"The details are in {_keep_report()}.")
    return 1


def _run(arguments: Sequence[str]) -> int:
    try:
        command_line(arguments)(list(arguments), prog_name="cm")
    except SystemExit as done:
        # The library turns both of these into silent exit codes of its own.
        if isinstance(done.__context__, BrokenPipeError):
            raise done.__context__ from None
        if done.code == _STOPPED:
            raise KeyboardInterrupt from None
        return done.code if isinstance(done.code, int) else 1
    return 0


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

    try:
        file = paths.private_dir(paths.state_dir()) / "error.log"
        file.write_text(f"cm {__version__}\n{traceback.format_exc()}", encoding="utf-8")
        file.chmod(0o600)
    except OSError as error:
        return f"no file ({error})"
    return file
