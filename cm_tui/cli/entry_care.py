"""`cm entries approve`, `move`, `merge`, `duplicates`, `promote` and `publish`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.entry_options import Category, Id, Keywords, Limit, OfScope, Title, scope_of, text_of
from cm_tui.cli.options import Json, Project, open_engine
from cm_tui.counts import count
from cm_tui.errors import RefusedError

if TYPE_CHECKING:
    from cm_tui.model import Entry


def approve(name: Id, scope: OfScope = "", project: Project = None, as_json: Json = False) -> None:
    """Approve a Rule that you did not write, after reading it: from then on agents are given it. Asked at a terminal only."""
    from cm_tui.cli.entry_rows import tell_changed
    from cm_tui.cli.output import narrate

    with open_engine(project) as engine:
        entry = engine.entry(name, scope=scope)
        if entry.category == "Rule" and entry.unapproved:
            _need_terminal()
            _show_rule(entry)
            if not typer.confirm("Give this Rule to agents?", default=False, err=True):
                narrate("Not approved: search finds it, but agents do not receive it.")
                return
        tell_changed(engine.approve_entry(entry), as_json=as_json)


def move(
    name: Id,
    scope: Annotated[str, typer.Option("--scope", help="Where it is to go: user or project.")],
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Move an entry to the other scope; it keeps its id and who wrote it."""
    from cm_tui.cli.entry_rows import tell_changed

    with open_engine(project) as engine:
        tell_changed(engine.move_entry(name, scope_of(scope)), as_json=as_json)


def merge(
    names: Annotated[list[str], typer.Argument(help="Ids; the first keeps its id, category, title and scope.")],
    scope: OfScope = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Make one entry of several: the first takes the texts of the others along, which are forgotten."""
    from cm_tui.cli.entry_rows import tell_changed

    with open_engine(project) as engine:
        tell_changed(engine.merge_entries(names, scope=scope), as_json=as_json)


def duplicates(limit: Limit = 50, project: Project = None, as_json: Json = False) -> None:
    """List pairs of entries that say nearly the same, with the words that differ."""
    from cm_tui.cli.entry_rows import pair_lines
    from cm_tui.cli.output import narrate, print_page

    with open_engine(project) as engine:
        page = engine.duplicate_entries(limit=limit)
    print_page(page, pair_lines, as_json=as_json)
    if page.rows and not as_json:
        narrate(f"`cm entries merge {page.rows[0].first.id} {page.rows[0].second.id}` makes one of two")


def promote(
    episode: Annotated[str, typer.Argument(help="The episode's id, or a beginning of it; last is the newest.")],
    content: Annotated[
        str, typer.Option("--content", help="What is to be remembered (-: stdin); by default what came of it.")
    ] = "",
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    scope: Annotated[str, typer.Option("--scope", help="project, or user: for all your projects.")] = "project",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Write down what an episode taught; the entry says which episode, session and commit it comes from."""
    from cm_tui.cli.entry_rows import tell_written

    with open_engine(project) as engine:
        entry = engine.promote_episode(
            episode,
            content=text_of(content),
            category=category or "Experience",
            title=title or "",
            keywords=tuple((keywords or "").split("|")),
            scope=scope_of(scope),
        )
    tell_written(entry, as_json=as_json)


def _need_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise RefusedError(
            "A Rule is a person's to approve: there is no terminal to ask at.",
            hint="Run `cm entries approve ID` yourself, in a terminal.",
        )


def _show_rule(entry: Entry) -> None:
    from cm_tui.cli.entry_rows import where
    from cm_tui.cli.output import narrate

    by = f"{entry.actor} {entry.agent}".strip()
    narrate(f"{entry.id}, by {by}{f', session {entry.session}' if entry.session else ''}, for {where(entry)}:")
    for line in (entry.title, *entry.content.splitlines()):
        narrate(f"  {line}")


def publish(
    file: Annotated[str, typer.Argument(help="A file that agents read, such as AGENTS.md or claude:CLAUDE.md.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take the rules out again, without a trace.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change; do nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Write the approved rules into a marked block of a file of instructions, after showing what changes."""
    from cm_tui.cli.output import narrate, print_json, write_text

    with open_engine(project) as engine:
        block = engine.publish_rules(file, remove=remove, dry_run=True)
        if not as_json:
            write_text(block.diff)
        if block.diff and not dry_run and (yes or as_json or typer.confirm(f"Change {block.file}?", err=True)):
            block = engine.publish_rules(file, remove=remove)
    if as_json:
        print_json(block)
        return
    if not block.diff:
        narrate(f"{block.id} says that already: nothing was changed")
    elif block.change:
        narrate(f"{block.id} has {count(block.rules, 'approved rule')}; `cm undo` undoes it")
    else:
        narrate("nothing was changed")
    if block.left_out:
        narrate(
            f"skipped: {count(block.left_out, 'unapproved rule')} from agents; approve with `cm entries approve ID`"
        )
