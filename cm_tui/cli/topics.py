"""`cm topics`."""

from __future__ import annotations

from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.declare import Family
from cm_tui.cli.options import open_engine
from cm_tui.cli.output import as_json, narrate, print_json, wants_json, write
from cm_tui.counts import count
from cm_tui.model.dates import local_minute

Name = Annotated[str, typer.Argument(help="A topic's id or name, such as router or user:style.")]
Names = Annotated[list[str], typer.Argument(help="Topics' ids or names.")]
Title = Annotated[str, typer.Option("--title", help="Name of the new topic.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Tag of the new topic; may be repeated.")]


def alone() -> None:
    """Notes about one subject each, and how they fare: without a command they are listed."""
    list_()


def list_(*, retired: bool = False) -> None:
    """List topics, those that were changed last first: size and its cap, tags, overlap, and what would do them good.

    Args:
        retired: Also those that were retired.
    """
    with open_engine() as engine:
        found = engine.topics(retired=retired)
    if as_json({"rows": list(found.topics), "total": len(found.topics), "notes": list(found.notes)}):
        return
    for one in (*found.topics, *found.notes):
        for text in _lines(one):
            write(text)
    if not found.topics:
        narrate('no topics yet; cm topics create NAME, or cm notes append --to NAME "TEXT"')
    if any(one.advice for one in found.topics):
        narrate("recommendations are also proposals: `cm proposals list --kind topic`")


def create(name: Name, *, title: Title = "", tags: Tags = None) -> None:
    """Begin a topic."""
    _change("create", [name], title, tags)


def merge(names: list[str], *, tags: list[str] | None = None) -> None:
    """Make one topic of several; the others go to the archive.

    Args:
        names: Topics; the first stays, and takes the others' lines along.
        tags (--tag): One more tag of it; may be repeated.
    """
    _change("merge", names, "", tags)


def split(name: Name, headings: list[str], *, title: Title = "", tags: Tags = None) -> None:
    """Make two topics of one: the sections with these headings move to a new one.

    Args:
        headings: Headings of the sections that move to the new topic.
    """
    _change("split", [name, *headings], title, tags)


def retire(names: Names) -> None:
    """Move topics to the archive: lists, search and agents have them no more."""
    _change("retire", names, "", None)


def restore(names: Names) -> None:
    """Bring back topics that were retired."""
    _change("restore", names, "", None)


def _change(action: model.TopicAction, names: list[str], title: str, tags: list[str] | None) -> None:
    with open_engine() as engine:
        done = engine.change_topics(action, names, title=title, tags=tuple(tags or ()))
    if wants_json():
        print_json(done)
    elif done.done:
        write(f"{done.id}  {done.words}", bold=done.id)
        narrate("`cm undo` undoes it" if done.change else "nothing was changed")
    else:
        narrate(f"{done.id}: {done.problem or done.words}; nothing was changed")
    if not done.done:
        raise typer.Exit(1)


def _lines(one: model.Topic) -> list[str]:
    share = (
        f"{one.bytes / one.cap_bytes:.0%} of {one.cap_bytes // 1024:,} KB" if one.cap_bytes else f"{one.bytes:,} bytes"
    )
    marks = [mark for mark, is_so in (("retired", one.retired), ("from git", one.came_along)) if is_so]
    marked = f"  ({', '.join(marks)})" if marks else ""
    tags = f"  tags {', '.join(one.tags)}" if one.tags else ""
    title = f"  {one.title}" if one.title else ""
    told = [f"{one.id}  {local_minute(one.modified)}  {count(one.lines, 'line')}, {share}{title}{tags}{marked}"]
    told += [f"  {each.share:.0%} of the tags shared with {each.id}" for each in one.overlaps]
    return told + [f"  {advice}" for advice in one.advice]


topics = Family("", (list_, create, merge, split, retire, restore), alone=alone)
