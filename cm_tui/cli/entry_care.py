"""`cm entries approve`, `move`, `merge`, `duplicates`, `promote` and `publish`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.entry_rows import pair_lines, tell_changed, tell_written, where
from cm_tui.cli.options import Yes, need_terminal, open_engine, text_of
from cm_tui.cli.output import advise, as_json, narrate, print_page, wants_json, write_text
from cm_tui.counts import count
from cm_tui.model.layout import author

Id = Annotated[str, typer.Argument(help="The entry's id, or a beginning of it.")]
OptionalId = Annotated[str, typer.Argument(metavar="ID", help="The entry's id, or a beginning of it.")]
Category = Annotated[str | None, typer.Option("--category", help="Knowledge, Rule or Experience.")]
Title = Annotated[str | None, typer.Option("--title", help="What it is called.")]
Keywords = Annotated[str | None, typer.Option("--keywords", help="Words that it is found by, with | between them.")]
OfScope = Annotated[str, typer.Option("--scope", help="Only those of user or project.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")]


def approve(name: Id, *, scope: OfScope = "") -> None:
    """Approve a Rule that you did not write, after reading it: from then on agents are given it. Asked at a terminal only."""
    with open_engine() as engine:
        entry = engine.entry(name, scope=scope)
        if entry.category == "Rule" and entry.unapproved:
            need_terminal(
                "A Rule is a person's to approve: there is no terminal to ask at.",
                "Run `cm entries approve ID` yourself, in a terminal.",
            )
            _show_rule(entry)
            if not typer.confirm("Give this Rule to agents?", default=False, err=True):
                narrate("Not approved: search finds it, but agents do not receive it.")
                return
        tell_changed(engine.approve_entry(entry))


def move(name: Id, *, scope: model.Scope) -> None:
    """Move an entry to the other scope; it keeps its id and who wrote it.

    Args:
        scope: Where it is to go: user or project.
    """
    with open_engine() as engine:
        tell_changed(engine.move_entry(name, scope))


def merge(names: list[str], *, scope: OfScope = "") -> None:
    """Make one entry of several: the first takes the texts of the others along, which are forgotten.

    Args:
        names: Ids; the first keeps its id, category, title and scope.
    """
    with open_engine() as engine:
        tell_changed(engine.merge_entries(names, scope=scope))


def duplicates(*, limit: Limit = 50) -> None:
    """List pairs of entries that say nearly the same, with the words that differ."""
    with open_engine() as engine:
        page = engine.duplicate_entries(limit=limit)
    print_page(page, pair_lines)
    if page.rows:
        advise(f"`cm entries merge {page.rows[0].first.id} {page.rows[0].second.id}` makes one of two")


def promote(
    episode: str,
    *,
    content: str = "",
    category: Category = None,
    title: Title = None,
    keywords: Keywords = None,
    scope: model.Scope = "project",
) -> None:
    """Write down what an episode taught; the entry says which episode, session and commit it comes from.

    Args:
        episode: The episode's id, or a beginning of it; last is the newest.
        content: What is to be remembered (-: stdin); by default what came of it.
        scope: project, or user: for all your projects.
    """
    with open_engine() as engine:
        entry = engine.promote_episode(
            episode,
            content=text_of(content),
            category=category or "Experience",
            title=title or "",
            keywords=tuple((keywords or "").split("|")),
            scope=scope,
        )
    tell_written(entry)


def _show_rule(entry: model.Entry) -> None:
    narrate(
        f"{entry.id}, by {author(entry)}{f', session {entry.session}' if entry.session else ''}, for {where(entry)}:"
    )
    for line in (entry.title, *entry.content.splitlines()):
        narrate(f"  {line}")


def publish(file: str, *, remove: bool = False, dry_run: bool = False, yes: Yes = False) -> None:
    """Write the approved rules into a marked block of a file of instructions, after showing what changes.

    Args:
        file: A file that agents read, such as AGENTS.md or claude:CLAUDE.md.
        remove: Take the rules out again, without a trace.
        dry_run: Show what would change; do nothing.
    """
    with open_engine() as engine:
        block = engine.publish_rules(file, remove=remove, dry_run=True)
        if not wants_json():
            write_text(block.diff)
        if block.diff and not dry_run and (yes or wants_json() or typer.confirm(f"Change {block.file}?", err=True)):
            block = engine.publish_rules(file, remove=remove)
    if as_json(block):
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
