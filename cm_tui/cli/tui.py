"""Opening the application."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cm_tui import paths
from cm_tui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


def launch(project: Path | None = None, episode: str = "") -> int:
    """Open the application on a project; the store is opened behind its first frame.

    `project`: a folder of it; the current one when not given. `episode`: name of an episode whose revision is shown.
    Returns the exit code. Raises UsageError if there is no terminal to draw on; NotFoundError if no folder can have
    that name.
    """
    paths.settle_environment()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("The application needs a terminal.", hint="Use a command instead: `cm --help` lists them.")
    start = (project or Path.cwd()).absolute()
    try:
        start.is_dir()
    except OSError as error:
        hint = "Check the spelling, or name another with --project."
        raise NotFoundError(f"Cannot find {start}: {error.strerror}.", hint=hint) from error
    code, folder = 0, cast("Path | None", start)
    while folder is not None:
        # Which project comes next is known only when the one before is closed.
        code, folder = _run(folder, episode)
        episode = ""
    return code


def _run(folder: Path, episode: str) -> tuple[int, Path | None]:
    """Run the application on one project; returns the exit code, and the project to go on with."""
    from cm_tui.config import load_config
    from cm_tui.tui.app.app import CmApp, run

    said: list[str] = []

    def open_engine() -> Engine:
        from cm_tui.daemon.open_engine import open_engine

        return open_engine(folder, say=said.append)

    def mend() -> None:
        from cm_tui.daemon.open_engine import remove
        from cm_tui.engine.api import projects

        remove(projects.store_of(folder))

    around = _root_around(folder)
    app = CmApp(open_engine, folder, load_config(around), mend, said, episode, around)
    code = run(app)
    if said:
        from cm_tui.cli.output import narrate

        for text in dict.fromkeys(said):
            narrate(f"cm: {text}")
    return code, app.next_project


def _root_around(folder: Path) -> Path:
    """The folder whose `.cm` holds the settings: looked for by name, as git itself takes long to import."""
    parents = (folder, *folder.parents)
    return next((path for path in parents if (path / ".git").exists() or (path / ".cm").is_dir()), folder)
