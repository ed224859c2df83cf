"""The `cm` command."""

from __future__ import annotations

import gc
import os
import sys

HELP_COLUMNS = 100
"""Width of the saved help text."""


def main() -> None:
    """Run the command line; the application itself when no command is given."""
    open_standard_streams()
    from cm_tui.files import private_umask

    with private_umask():
        code = _run()
    drop_unwritten()
    # At its end Python looks for cycles among all objects, several times: a tenth of a second.
    gc.freeze()
    sys.exit(code)


def open_standard_streams() -> None:
    """Open the null device for each standard stream that is closed (cron, a service, `>&-`).

    Otherwise the next file that is opened gets its number, and what is printed ends up in it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            stream = os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8")
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def drop_unwritten() -> None:
    """Send what could not be written nowhere: the interpreter would fail on it again at its end, and change the exit code."""
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _run() -> int:
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv[2:3]):
        # An agent or git waits for a hook: the command line itself would take longer to import than all of its work.
        from cm_tui.agent_hooks.command import main as hook

        return hook(sys.argv[2:])
    # Every command would look through all installed packages for plugins of the library that checks options and settings.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Rows come by the hundred thousand, and hardly ever in cycles: looking for those took a tenth of an index run, and a
    # tenth of a start.
    gc.set_threshold(300_000, 50, 100)
    if sys.argv[1:2] == ["search"]:
        from cm_tui.cli.quick_search import quick_search

        if (code := quick_search(sys.argv[2:])) is not None:
            return code
    if sys.argv[1:] in (["--help"], ["-h"]) and (text := _help_text()):
        sys.stdout.write(text)
        return 0
    if not sys.argv[1:] and "_CM_COMPLETE" not in os.environ:
        # The application is opened without the library for command lines.
        from cm_tui.cli.failures import guarded
        from cm_tui.cli.tui import launch

        return guarded(launch)
    if sys.argv[1:] == ["serve", "--background"]:
        from cm_tui.cli.daemon import in_background
        from cm_tui.cli.failures import guarded

        return guarded(in_background)
    from cm_tui.cli.app import run

    return run(sys.argv[1:])


def _help_text() -> str:
    """Return the text of `cm --help`, saved so that no command has to be imported; empty: the terminal is narrower."""
    try:
        columns = os.get_terminal_size(1).columns
    except (OSError, ValueError):
        columns = HELP_COLUMNS
    if columns < HELP_COLUMNS:
        return ""
    # Not by pathlib, whose import takes as long as all of the rest.
    file = f"{os.path.dirname(__file__)}/data/help.txt"  # noqa: PTH120
    with open(file, encoding="utf-8") as text:  # noqa: PTH123
        return text.read()


if __name__ == "__main__":
    main()
