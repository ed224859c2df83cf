"""`cm undo`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("undo")(undo)


def undo(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be undone; change nothing.")] = False,
    theirs_too: Annotated[bool, typer.Option("--theirs-too", help="Also when the text was changed since.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Undo your last change in this project, of any kind; exits with 1 if the same text was changed since."""
    from cm_tui.cli.output import narrate, print_json, write, write_text

    with open_engine(project) as engine:
        undone = engine.undo(dry_run=dry_run, theirs_too=theirs_too)
    if as_json:
        print_json(undone)
    else:
        for note in undone.notes:
            narrate(f"note: {note}")
        narrate(f"would be {undone.words}" if dry_run else undone.words)
        for one in undone.conflicts:
            write(f"{one.id}  {one.title}")
            by = f", by {one.changed_by}" if one.changed_by else ""
            for name, text in (("before your change", one.before), ("yours", one.yours), (f"now{by}", one.now)):
                parts = text.splitlines() or ["(nothing)"]
                write_text("\n".join([f"  {name}:", *(f"    {part}" for part in parts)]))
        if undone.conflicts and not theirs_too:
            narrate("changed since: `cm undo --theirs-too` puts it back all the same")
    if undone.conflicts and not theirs_too:
        raise typer.Exit(1)
