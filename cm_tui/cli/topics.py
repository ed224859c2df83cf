"""`cm topics`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine, pass_on
from cm_tui.cli.output import narrate, print_json, write
from cm_tui.counts import count
from cm_tui.model.dates import local_minute

if TYPE_CHECKING:
    from cm_tui.model import Topic, TopicAction

Name = Annotated[str, typer.Argument(help="A topic's id or name, such as router or user:style.")]
Names = Annotated[list[str], typer.Argument(help="Topics' ids or names.")]
Title = Annotated[str, typer.Option("--title", help="What the topic that is made is called.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag of the topic that is made; may be repeated.")]
Retired = Annotated[bool, typer.Option("--retired", help="Also those that were retired.")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(invoke_without_command=True, help=topics.__doc__)
    family.callback()(topics)
    family.command("list")(listing)
    for command in (create, merge, split, retire, restore):
        family.command(command.__name__)(command)
    app.add_typer(family, name="topics")


def topics(context: typer.Context, project: Project = None, as_json: Json = False) -> None:
    """Notes about one subject each, and how they fare: without a command they are listed."""
    if context.invoked_subcommand is None:
        listing(project=project, as_json=as_json)
    else:
        pass_on(context, project, as_json=as_json)


def listing(retired: Retired = False, project: Project = None, as_json: Json = False) -> None:
    """List topics, those that were changed last first: size and its cap, tags, overlap, and what would do them good."""
    with open_engine(project) as engine:
        found = engine.topics(retired=retired)
    if as_json:
        print_json({"rows": list(found.topics), "total": len(found.topics), "notes": list(found.notes)})
        return
    for one in (*found.topics, *found.notes):
        for text in _lines(one):
            write(text)
    if not found.topics:
        narrate('there are no topics yet: cm topics create NAME, or cm notes append --to NAME "TEXT"')
    if any(one.advice for one in found.topics):
        narrate("what is advised is proposed too: `cm proposals list --kind topic`")


def create(name: Name, title: Title = "", tags: Tags = None, project: Project = None, as_json: Json = False) -> None:
    """Begin a topic."""
    _change("create", [name], title, tags, project, as_json=as_json)


def merge(
    names: Annotated[list[str], typer.Argument(help="Topics; the first stays, and takes the others' lines along.")],
    tags: Annotated[list[str] | None, typer.Option("--tag", help="One more tag of it; may be repeated.")] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Make one topic of several; the others go to the archive."""
    _change("merge", names, "", tags, project, as_json=as_json)


def split(
    name: Name,
    headings: Annotated[list[str], typer.Argument(help="Headings of the sections that move to the new topic.")],
    title: Title = "",
    tags: Tags = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Make two topics of one: the sections with these headings move to a new one."""
    _change("split", [name, *headings], title, tags, project, as_json=as_json)


def retire(names: Names, project: Project = None, as_json: Json = False) -> None:
    """Move topics to the archive: lists, search and agents have them no more."""
    _change("retire", names, "", None, project, as_json=as_json)


def restore(names: Names, project: Project = None, as_json: Json = False) -> None:
    """Bring back topics that were retired."""
    _change("restore", names, "", None, project, as_json=as_json)


def _change(
    action: TopicAction, names: list[str], title: str, tags: list[str] | None, project: Project, *, as_json: bool
) -> None:
    with open_engine(project) as engine:
        done = engine.change_topics(action, names, title=title, tags=tuple(tags or ()))
    if as_json:
        print_json(done)
    elif done.done:
        write(f"{done.id}  {done.words}", bold=done.id)
        narrate("`cm undo` undoes it" if done.change else "nothing was changed")
    else:
        narrate(f"{done.id}: {done.problem or done.words}; nothing was changed")
    if not done.done:
        raise typer.Exit(1)


def _lines(one: Topic) -> list[str]:
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
