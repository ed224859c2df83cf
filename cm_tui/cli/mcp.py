"""`cm mcp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cm_tui.cli.options import Project, project_of
from cm_tui.cli.output import write


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("mcp")(mcp)


def mcp(
    tools: Annotated[
        str,
        typer.Option("--tools", help="Sets of tools: core, graph, temporal, memory, all; or single tools by name."),
    ] = "core",
    root: Annotated[
        list[Path] | None,
        typer.Option("--root", help="Answer for the projects below this folder too; may be given several times."),
    ] = None,
    token: Annotated[
        bool, typer.Option("--token", help="Print the token for agents that come over HTTP, and end.")
    ] = False,
    project: Project = None,
) -> None:
    """Serve agents over the Model Context Protocol on stdin and stdout, until stdin ends.

    Answers for the project, its worktrees, and what is given besides; anything else is refused.
    """
    if token:
        from cm_tui.daemon.port_token import port_token

        write(port_token())
        return
    from cm_tui.mcp import build
    from cm_tui.mcp.access import Access
    from cm_tui.mcp.engine_pool import EnginePool

    chosen = project_of(project)
    folder = chosen or Path.cwd()
    engines = EnginePool(folder, Access.of_project(folder, root or ()))
    server = build(engines, tools=[word.strip() for word in tools.split(",") if word.strip()], ask_roots=chosen is None)
    try:
        server.run("stdio")
    finally:
        engines.close()
