"""`cm stale`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.declare import Family, Positive
from cm_tui.cli.options import open_engine, open_fresh_engine
from cm_tui.cli.output import advise, as_json, narrate, plain, print_page, write
from cm_tui.counts import count
from cm_tui.model.layout import commit_line

Name = Annotated[str, typer.Argument(metavar="ID", help="Of an entry, a note or an episode, as `cm stale` lists it.")]
_TITLE = 60


def alone(*, everything: bool = False, kind: str = "", limit: Positive = 50) -> None:
    """List what is remembered and names code that is gone or renamed, with the commit that did it, the worst first.

    Args:
        everything (--all): Also what was moved or changed, and what history does not tell of.
        kind: Only entry, note or episode; entries and notes unless said.
        limit (--limit, -n): How many rows at most.
    """
    with open_fresh_engine() as engine:
        page = engine.stale_items(kind=kind, everything=everything, limit=limit)
    print_page(page, _lines, row=_row)
    if page.total:
        advise(
            "`cm stale fix ID` updates names, `cm stale confirm ID` marks it as still true, `cm stale archive ID` archives it"
        )


def show(name: Name) -> None:
    """Show every name of the project that one item says, and what became of it."""
    with open_fresh_engine() as engine:
        item = engine.mentions_of(name)
    if as_json(_row(item)):
        return
    write(f"{item.path}  {item.title[:_TITLE]}", bold=item.path)
    if item.commit is not None:
        write(f"written at {commit_line(item.commit)}")
    for one in item.mentions:
        write(f"  {one.line:>4}  {_words(one)}")
    if not item.mentions:
        narrate("it names nothing in this project")
    if item.note:
        narrate(item.note)


def fix(name: Name, *, dry_run: bool = False) -> None:
    """Replace a renamed symbol's old name in an entry, if there is exactly one; `cm undo` undoes it.

    Args:
        dry_run: Say what it would write; do nothing.
    """
    with open_fresh_engine() as engine:
        _print_result(engine.fix_stale(name, dry_run=dry_run))


def confirm(name: Name) -> None:
    """Confirm that an item is still true, until more code changes; `cm undo` undoes it."""
    with open_fresh_engine() as engine:
        _print_result(engine.confirm_stale(name))


def archive(name: Name) -> None:
    """Forget an entry or an episode that is not true any more; `cm undo` brings it back."""
    with open_engine() as engine:
        _print_result(engine.forget_memory(name))


def _print_result(done: model.MemoryChange) -> None:
    if as_json(done):
        return
    write(done.words)
    if done.change:
        narrate("`cm undo` undoes it")


def _row(item: model.StaleItem) -> dict[str, object]:
    mentions = [{**plain(one), "words": one.words} for one in item.mentions]
    return {**plain(item), "mentions": mentions, "words": item.words}


def _lines(item: model.StaleItem) -> list[str]:
    said = [f"    {one.line:>4}  {_words(one)}" for one in item.mentions]
    return [f"{item.path}  {' '.join(item.title.split())[:_TITLE]}  ({count(len(item.mentions), 'name')})", *said]


def _words(one: model.Mention) -> str:
    where = f"{one.path}:{one.start_line}" if one.start_line else one.path
    there = f"  {where}" if where and one.state in ("alive", "changed") else ""
    confirmed = "  (confirmed)" if one.confirmed else ""
    return f"{one.kind} `{one.text}`: {one.fate}{there}{confirmed}"


stale = Family("", (show, fix, confirm, archive), alone=alone)
