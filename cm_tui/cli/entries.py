"""`cm entries`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cm_tui.cli.entry_care import (
    Category,
    Id,
    Keywords,
    Limit,
    OfScope,
    OptionalId,
    Title,
    approve,
    duplicates,
    merge,
    move,
    promote,
    publish,
    scope_of,
    text_of,
)  # fmt: skip
from cm_tui.cli.entry_rows import entry_line, entry_row, show_entry, show_injection, tell_changed, tell_written
from cm_tui.cli.options import Json, Project, open_engine, pass_on
from cm_tui.cli.output import narrate, plain, print_json, print_page, write
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model import Entry


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(invoke_without_command=True, help=entries.__doc__)
    family.callback()(entries)
    family.command("list")(listing)
    for command in (add, update, delete, search, show, inject, approve, move, merge, duplicates, promote, publish):
        family.command(command.__name__)(command)
    app.add_typer(family, name="entries")


def entries(context: typer.Context, project: Project = None, as_json: Json = False) -> None:
    """What you and agents wrote down to be remembered; without a command the entries are listed."""
    if context.invoked_subcommand is None:
        listing(project=project, as_json=as_json)
    else:
        pass_on(context, project, as_json=as_json)


def add(
    content: Annotated[str, typer.Option("--content", help="What is to be remembered (-: stdin).")],
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    scope: Annotated[str, typer.Option("--scope", help="project, or user: for all your projects.")] = "project",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Write an entry; what stands there word for word is not written twice."""
    with open_engine(project) as engine:
        entry = engine.remember(
            text_of(content),
            category=category or "Experience",
            title=title or "",
            keywords=tuple((keywords or "").split("|")),
            scope=scope_of(scope),
        )
    tell_written(entry, as_json=as_json)


def update(
    name: Id,
    content: Annotated[str | None, typer.Option("--content", help="What it says from now on (-: stdin).")] = None,
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    pin: Annotated[bool | None, typer.Option("--pin/--no-pin", help="Only a person changes it, or anybody.")] = None,
    never_recall: Annotated[
        bool | None, typer.Option("--never-recall/--recall", help="Keep it out of every answer, or let it in again.")
    ] = None,
    scope: OfScope = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Change an entry of either scope."""
    from cm_tui.model import EntryEdit

    words = None if keywords is None else tuple(keywords.split("|"))
    text = None if content is None else text_of(content)
    edit = EntryEdit(text, title, cast("Any", category), words, pin, never_recall)
    if edit == EntryEdit():
        raise UsageError("Nothing is to be changed.", hint="`cm entries update --help` lists what can be.")
    with open_engine(project) as engine:
        tell_changed(engine.update_entry(name, edit, scope=scope), as_json=as_json)


def delete(name: Id, scope: OfScope = "", project: Project = None, as_json: Json = False) -> None:
    """Forget an entry of either scope; `cm undo` and `cm forget --undo` bring it back."""
    with open_engine(project) as engine:
        entry = engine.entry(name, scope=scope)
        done = engine.forget_memory(f"entry/{entry.id}", scope=scope or ("" if entry.forgotten else entry.scope))
    if as_json:
        print_json({"id": done.id, "deleted": bool(done.change), "change": done.change})
    else:
        narrate(f"{done.words}; `cm forget --undo {done.id}` brings it back")


def search(
    query: Annotated[str, typer.Argument(help="Words; without any, all entries.")] = "",
    category: Annotated[str, typer.Option("--category", help="Only those of this one.")] = "",
    scope: OfScope = "",
    limit: Limit = 200,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List the entries that have every word in title, content or keywords; without a query all of them."""
    _list(query, category, scope, limit, project, as_json=as_json)


def listing(
    category: Annotated[str, typer.Option("--category", help="Only those of this one.")] = "",
    scope: OfScope = "",
    limit: Limit = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List the entries, the one that changed last first."""
    _list("", category, scope, limit, project, as_json=as_json)


def show(name: OptionalId = "", scope: OfScope = "", project: Project = None, as_json: Json = False) -> None:
    """Show an entry whole, who wrote it, and how often it was recalled; of an id in both scopes both."""
    if not name.strip():
        raise UsageError("No entry is named.", hint="`cm entries show ID`; `cm entries list` lists the ids.")
    with open_engine(project) as engine:
        found = _in_both(engine, name) if not scope else ()
        entries = found or (engine.entry(name, scope=scope),)
        counts = engine.recall_counts([f"entry/{one.id}" for one in entries])
    if as_json:
        rows = [entry_row(entry, recalls) for entry, recalls in zip(entries, counts, strict=True)]
        print_json({"rows": rows, "total": len(rows)} if found else rows[0])
        return
    for number, (entry, recalls) in enumerate(zip(entries, counts, strict=True)):
        if number:
            write("")
        show_entry(entry, recalls)


def inject(
    budget: Annotated[int, typer.Option("--budget", min=0, help="Tokens at most.")] = 2000,
    scope: OfScope = "",
    category: Annotated[str, typer.Option("--category", help="Only those of this one.")] = "",
    prompt: Annotated[str, typer.Option("--for", help="What is asked: entries about it come first.")] = "",
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file that is worked on; may be repeated.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each entry is worth, and why.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Print entries as an agent is given them: the most valuable within a budget, by scope and category."""
    paths = tuple(str(path) for path in file or ())
    with open_engine(project) as engine:
        found = engine.inject(budget=budget, scope=scope, category=category, prompt=prompt, files=paths)
    if as_json:
        rows = [{"id": row.entry.id, **plain(row)} for row in found.rows]
        print_json({**plain(found), "rows": rows})
    else:
        show_injection(found, explain=explain)


# --- parts ---


def _list(query: str, category: str, scope: str, limit: int, project: Path | None, *, as_json: bool) -> None:
    with open_engine(project) as engine:
        page = engine.entries(match=query, category=category, scope=scope, limit=limit)
    print_page(page, entry_line, as_json=as_json, row=entry_row)


def _in_both(engine: Engine, name: str) -> tuple[Entry, ...]:
    """Return the two entries of an id that both scopes have; nothing where one alone is meant."""
    from cm_tui.model.ids import plain_id

    wanted = plain_id(name).lower()
    page = engine.entries(match=wanted, limit=1_000)
    found = tuple(one for one in page.rows if one.id.lower() == wanted)
    return found if len(found) > 1 else ()
