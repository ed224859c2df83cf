"""`cm projects`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json

if TYPE_CHECKING:
    from cm_tui.model import KnownProject


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("projects")(projects)


def projects(
    match: Annotated[str, typer.Option("--match", help="Part of a name, an identity or a folder.")] = "",
    as_json: Json = False,
) -> None:
    """List the projects that there is an index or a journal of, the one that was used last first."""
    from cm_tui.cli.output import print_page
    from cm_tui.engine.api.known_projects import known_projects

    print_page(known_projects(match=match), _lines, as_json=as_json)


def _lines(one: KnownProject) -> list[str]:
    from cm_tui.model.dates import local_minute

    has = ", ".join(word for word, there in (("index", one.indexed), ("journal", one.recorded)) if there)
    lines = [f"{one.id}  {local_minute(one.last)}  {one.identity or one.name}  ({has or 'empty'})"]
    lines += [f"  {folder}" for folder in one.roots]
    lines += [
        f"  {folder} (no longer there; where it was moved, `cm link` takes its memory along)" for folder in one.gone
    ]
    return lines
