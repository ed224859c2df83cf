"""The command line: one app and its families of commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from cm_tui import __version__
from cm_tui.cli import families
from cm_tui.cli.declare import Json, Project
from cm_tui.cli.failures import STOPPED, guarded
from cm_tui.cli.options import PROJECT
from cm_tui.cli.output import WANTS_JSON
from cm_tui.errors import UsageError

HELP = """Ask the code and its history, see why each answer ranked where it did, and take the right context away.

`cm` alone opens the application on the repository around the current folder. Every command takes --project PATH
and --json, which may also stand before it; data goes to stdout, narration to stderr.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not indexed or not found, 4 refused, 5 store in use.
"""


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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Open the application when no command is given."""
    from cm_tui import paths

    _ = version
    paths.settle_environment()
    if context.invoked_subcommand is not None:
        if episode:
            raise UsageError(
                "--episode opens the application and cannot be combined with a command.", hint="Try `cm episodes ID`."
            )
        PROJECT.set(project)
        WANTS_JSON.set(as_json)
        return
    if as_json:
        raise UsageError("The application has no JSON output.", hint="Name a command: cm --json status.")
    from cm_tui.cli.tui import launch

    raise typer.Exit(launch(project, episode))


def run(arguments: Sequence[str]) -> int:
    """Run the command line. `arguments`: the words after `cm`. Returns the exit code."""
    return guarded(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        command_line(arguments)(list(arguments), prog_name="cm")
    except SystemExit as done:
        # The library turns both of these into silent exit codes of its own.
        if isinstance(done.__context__, BrokenPipeError):
            raise done.__context__ from None
        if done.code == STOPPED:
            raise KeyboardInterrupt from None
        return done.code if isinstance(done.code, int) else 1
    return 0
