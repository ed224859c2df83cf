"""`cm stale`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine, open_fresh_engine
from cm_tui.cli.output import narrate, plain, print_json, print_page, write
from cm_tui.counts import count
from cm_tui.model.layout import commit_line

if TYPE_CHECKING:
    from cm_tui.model import MemoryChange, Mention, StaleItem

Name = Annotated[str, typer.Argument(metavar="ID", help="Of an entry, a note or an episode, as `cm stale` lists it.")]
_TITLE = 60


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(invoke_without_command=True, help=stale.__doc__)
    family.callback()(stale)
    for command in (show, fix, confirm, archive):
        family.command(command.__name__)(command)
    app.add_typer(family, name="stale")


def stale(
    context: typer.Context,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what was moved or changed, and what history does not tell of.")
    ] = False,
    kind: Annotated[
        str, typer.Option("--kind", help="Only entry, note or episode; entries and notes unless said.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")] = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List what is remembered and names code that is gone or renamed, with the commit that did it, the worst first."""
    if context.invoked_subcommand is not None:
        return
    with open_fresh_engine(project) as engine:
        page = engine.stale_items(kind=kind, everything=everything, limit=limit)
    print_page(page, _lines, as_json=as_json, row=_row)
    if page.total and not as_json:
        narrate(
            "`cm stale fix ID` writes new names, `cm stale confirm ID` says it is still true, `cm stale archive ID` forgets it"
        )


def show(name: Name, project: Project = None, as_json: Json = False) -> None:
    """Show every name of the project that one item says, and what became of it."""
    with open_fresh_engine(project) as engine:
        item = engine.mentions_of(name)
    if as_json:
        print_json(_row(item))
        return
    write(f"{item.path}  {item.title[:_TITLE]}", bold=item.path)
    if item.commit is not None:
        write(f"written at {commit_line(item.commit)}")
    for one in item.mentions:
        write(f"  {one.line:>4}  {_words(one)}")
    if not item.mentions:
        narrate("it names nothing of this project")
    if item.note:
        narrate(item.note)


def fix(
    name: Name,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would write; do nothing.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Replace a renamed symbol's old name in an entry, if there is exactly one; `cm undo` undoes it."""
    with open_fresh_engine(project) as engine:
        _tell(engine.fix_stale(name, dry_run=dry_run), as_json=as_json)


def confirm(name: Name, project: Project = None, as_json: Json = False) -> None:
    """Confirm that an item is still true, until more code changes; `cm undo` undoes it."""
    with open_fresh_engine(project) as engine:
        _tell(engine.confirm_stale(name), as_json=as_json)


def archive(name: Name, project: Project = None, as_json: Json = False) -> None:
    """Forget an entry or an episode that is not true any more; `cm undo` brings it back."""
    with open_engine(project) as engine:
        _tell(engine.forget_memory(name), as_json=as_json)


def _tell(done: MemoryChange, *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    write(done.words)
    if done.change:
        narrate("`cm undo` undoes it")


def _row(item: StaleItem) -> dict[str, object]:
    mentions = [{**plain(one), "words": one.words} for one in item.mentions]
    return {**plain(item), "mentions": mentions, "words": item.words}


def _lines(item: StaleItem) -> list[str]:
    said = [f"    {one.line:>4}  {_words(one)}" for one in item.mentions]
    return [f"{item.path}  {' '.join(item.title.split())[:_TITLE]}  ({count(len(item.mentions), 'name')})", *said]


def _words(one: Mention) -> str:
    where = f"{one.path}:{one.start_line}" if one.start_line else one.path
    there = f"  {where}" if where and one.state in ("alive", "changed") else ""
    confirmed = "  (confirmed)" if one.confirmed else ""
    return f"{one.kind} `{one.text}`: {one.fate}{there}{confirmed}"
