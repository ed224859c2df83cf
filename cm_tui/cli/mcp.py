"""`cm mcp`."""

from __future__ import annotations

from pathlib import Path

from cm_tui.cli.declare import declared
from cm_tui.cli.options import chosen_project
from cm_tui.cli.output import write


@declared(lacks="as_json")
def mcp(*, tools: str = "core", root: list[Path] | None = None, token: bool = False) -> None:
    """Serve agents over the Model Context Protocol on stdin and stdout, until stdin ends.

    Answers for the project, its worktrees, and what is given besides; anything else is refused.

    Args:
        tools: Sets of tools: core, graph, temporal, memory, all; or single tools by name.
        root: Answer for the projects below this folder too; may be given several times.
        token: Print the token for agents that come over HTTP, and end.
    """
    if token:
        from cm_tui.daemon.port_token import port_token

        write(port_token())
        return
    from cm_tui.mcp import build
    from cm_tui.mcp.access import Access
    from cm_tui.mcp.engine_pool import EnginePool

    chosen = chosen_project()
    folder = chosen or Path.cwd()
    engines = EnginePool(folder, Access.of_project(folder, root or ()))
    server = build(engines, tools=[word.strip() for word in tools.split(",") if word.strip()], ask_roots=chosen is None)
    engines.warm_up()
    try:
        server.run("stdio")
    finally:
        engines.close()
