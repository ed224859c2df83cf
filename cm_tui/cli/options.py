"""Options that every command takes, and how a command gets at the door."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from cm_tui.engine.memory import Memory

PROJECT: ContextVar[Path | None] = ContextVar("project", default=None)
"""What `cm --project PATH command` said before the command."""

Project = Annotated[
    Path | None,
    typer.Option("--project", "-p", help="Folder of the project; default: the repository around the current folder."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")]
Force = Annotated[bool, typer.Option("--force", help="Insist on a root that is refused as unsafe.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="How many rows at most.")]
Depth = Annotated[int, typer.Option("--depth", min=1, max=3, help="How many steps along the calls.")]


def project_of(project: Path | None) -> Path | None:
    """The project asked for: this command's own option, else the one given before the command."""
    return project or PROJECT.get()


@contextmanager
def opened(project: Path | None, *, force: bool = False) -> Iterator[Memory]:
    """Open the door to a project, and close it afterwards.

    Raises:
        CmError: the project or its store cannot be opened.
    """
    from cm_tui.engine.memory import Memory

    memory = Memory.open(project_of(project), force=force)
    try:
        yield memory
    finally:
        memory.close()


@contextmanager
def answering(project: Path | None) -> Iterator[Memory]:
    """Open the door for questions: the index exists and reflects this checkout's HEAD.

    Raises:
        NotIndexedError: the project has no index yet.
    """
    from cm_tui.cli.output import narrate
    from cm_tui.engine.memory import Memory
    from cm_tui.errors import NotIndexedError

    if not Memory.is_indexed(project_of(project)):
        raise NotIndexedError(f"{project_of(project) or Path.cwd()} has no index yet.", hint="Run `cm index` first.")
    with opened(project) as memory:
        reason = memory.behind()
        if reason:
            narrate(f"{reason}; bringing the index up to date")
            for _ in memory.index():
                pass
        yield memory
