"""`cm pack`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui.cli.options import Json, Project, open_fresh_engine, refuse_empty


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("pack")(pack)


def pack(
    question: Annotated[str, typer.Argument(help="What the chat is about.")],
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens at most.")] = 4000,
    form: Annotated[str, typer.Option("--format", help="markdown or json.")] = "markdown",
    neighbours: Annotated[bool, typer.Option("--neighbours/--no-neighbours", help="Add callers and callees.")] = True,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Choose what answers a question, within a budget, ready to paste into a chat."""
    from cm_tui.cli.output import narrate, print_json, write_text
    from cm_tui.errors import UsageError

    if form not in ("markdown", "json"):
        raise UsageError(f"Unknown format {form!r}.", hint="Use markdown or json.")
    refuse_empty(question, 'cm pack "how are routes matched"')
    with open_fresh_engine(project) as engine:
        result = engine.pack(question, budget=budget, neighbours=neighbours)
        engine.note_recalled(result.recalled)
    if as_json or form == "json":
        print_json(result)
        return
    write_text(result.markdown)
    narrate(f"{result.tokens:,} of {result.budget:,} tokens")
    for note in result.notes:
        narrate(f"note: {note}")
