"""`cm mcp`."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Project, project_of
from cm_tui.errors import StoreBusyError

if TYPE_CHECKING:
    from cm_tui.engine.memory import Door, Memory


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("mcp")(mcp)


def mcp(
    tools: Annotated[
        str,
        typer.Option("--tools", help="Sets of tools: core, graph, temporal, memory, all; or single tools by name."),
    ] = "core",
    project: Project = None,
) -> None:
    """Serve agents over the Model Context Protocol on stdin and stdout, until stdin ends."""
    from cm_tui.server.mcp import build

    chosen = project_of(project)
    doors = Doors(chosen)
    server = build(doors, tools=[word.strip() for word in tools.split(",") if word.strip()], ask_roots=chosen is None)
    try:
        server.run("stdio")
    finally:
        doors.close()


class Doors:
    """The doors of this process, each opened when it is first asked for.

    Args:
        default: folder of the project that is meant when a call names none; the current one when not given.
    """

    def __init__(self, default: Path | None = None) -> None:
        self._default = (default or Path.cwd()).absolute()
        self._open: dict[Path, Memory] = {}
        self._opening = threading.Lock()

    def __call__(self, project: str | None) -> Door:
        """The door of the project around a folder.

        Raises:
            StoreBusyError: another checkout of the same repository is open here, and shares its index.
            CmError: the project cannot be opened.
        """
        from cm_tui.engine.memory import Memory

        folder = Path(project) if project else self._default
        with self._opening:
            store = Memory.store_of(folder)
            door = self._open.get(store)
            if door is None:
                door = self._open[store] = Memory.open(folder)
            elif not folder.resolve().is_relative_to(door.root):
                raise StoreBusyError(
                    f"{folder} shares its index with {door.root}, which is open here.",
                    hint="Start another server in that folder.",
                )
            return door

    def close(self) -> None:
        """Let go of every store."""
        with self._opening:
            for door in self._open.values():
                door.close()
            self._open.clear()
