"""`cm mcp`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui.cli.options import Project, project_of


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
    from cm_tui.mcp import build
    from cm_tui.mcp.engine_pool import EnginePool

    chosen = project_of(project)
    engines = EnginePool(chosen)
    server = build(engines, tools=[word.strip() for word in tools.split(",") if word.strip()], ask_roots=chosen is None)
    try:
        server.run("stdio")
    finally:
        engines.close()
