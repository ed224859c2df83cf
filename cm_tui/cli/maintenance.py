"""`cm doctor`, `cm reset`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui.cli.options import Json, Project, project_of


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("doctor")(doctor)
    app.command("reset")(reset)


def doctor(project: Project = None, as_json: Json = False) -> None:
    """Check model, extension, grammars, compiled parts, store and versions, and say how to mend each."""
    from cm_tui.cli.output import print_json, write
    from cm_tui.daemon.open_engine import examine

    checks = examine(project_of(project))
    if as_json:
        print_json({"checks": checks})
    else:
        signs = {"ok": "✓", "warning": "!", "failed": "✗"}
        for check in checks:
            write(f"{signs[check.state]} {check.name:<18} {check.message}")
            if check.mend:
                write(f"  {'':<18} → {check.mend}")
    if any(check.state == "failed" for check in checks):
        raise typer.Exit(1)


def reset(
    everywhere: Annotated[bool, typer.Option("--all", help="The indexes of all projects.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Remove the index of this project, or of all. The code itself is never touched."""
    from cm_tui.cli.output import narrate, print_json
    from cm_tui.daemon.open_engine import remove
    from cm_tui.engine.api import projects

    stores = projects.all_stores() if everywhere else [projects.store_of(project_of(project))]
    present = [store for store in stores if store.exists()]
    if present and not yes:
        for store in present:
            narrate(f"  {store}")
        typer.confirm(f"Remove {len(present)} index folder(s)?", abort=True, err=True)
    for store in present:
        remove(store)
    if as_json:
        print_json({"removed": [str(store) for store in present]})
    else:
        narrate(f"Removed {len(present)} index folder(s).")
