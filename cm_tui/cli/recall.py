"""`cm recall` and `cm pack`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine, open_fresh_engine, project_of, refuse_empty
from cm_tui.cli.output import narrate, narrate_notes, plain, print_json, write, write_text
from cm_tui.counts import count
from cm_tui.errors import UsageError
from cm_tui.model.dates import instant

if TYPE_CHECKING:
    from cm_tui.model import EpisodeFilter


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("recall")(recall)
    app.command("pack")(pack)


def recall(
    question: Annotated[str, typer.Argument(help="What you want to remember, in words.")],
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many at most.")] = 10,
    agent: Annotated[str, typer.Option("--agent", help="Only sessions of this agent.")] = "",
    session: Annotated[str, typer.Option("--session", help="Only this session: its id, or a beginning of it.")] = "",
    file: Annotated[str, typer.Option("--file", help="Only what touched this file, or a file below this folder.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only what has this tag.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only from then on: 2024-05-01, yesterday, 30d.")] = "",
    until: Annotated[
        str, typer.Option("--until", help="Only until then, the day included: 2024-05-01, yesterday, 30d.")
    ] = "",
    archived: Annotated[bool, typer.Option("--archived", help="Ask the archive, and nothing else.")] = False,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Ask the memories of all projects on this machine.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each score came to be.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Ask what was said and decided: turns of past sessions, entries and notes, each with its age."""
    from cm_tui.cli.hits import show_recalled

    refuse_empty(question, 'cm recall "why did we revert the cache"')
    where = _filter(agent=agent, session=session, file=file, tag=tag, since=since, until=until, archived=archived)
    if everywhere:
        if project_of(project) is not None:
            raise UsageError("--everywhere asks all projects.", hint="Leave out --project.")
        recall_everywhere(question, limit, where, explain=explain, as_json=as_json)
        return
    with open_fresh_engine(project, of_memory=True) as engine:
        result = engine.recall(question, limit=limit, where=where)
        engine.note_recalled([hit.path for hit in result.hits])
        is_empty = not result.total and not engine.episodes(limit=1).rows and not engine.entries(limit=1).rows
    show_recalled(result, explain=explain, as_json=as_json)
    if is_empty and where is None and not as_json:
        narrate("`cm import` records past sessions of agents, `cm remember TEXT` writes something down")


def _filter(
    *, agent: str, session: str, file: str, tag: str, since: str, until: str, archived: bool
) -> EpisodeFilter | None:
    """The episodes that are wanted; None: everything that is remembered.

    Raises UsageError if a day is none.
    """
    if not any((agent, session, file, tag, since, until, archived)):
        return None
    from cm_tui.model import EpisodeFilter

    return EpisodeFilter(
        agents=(agent,) if agent else (), session=session, file=file, tags=(tag,) if tag else (),
        since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end=True) if until else None, state="archived" if archived else "shown",
    )  # fmt: skip


def recall_everywhere(question: str, limit: int, where: EpisodeFilter | None, *, explain: bool, as_json: bool) -> None:
    """Ask each project on this machine that has an index or a journal, and print what they remember, best first."""
    from cm_tui.cli.hits import show_remembered
    from cm_tui.engine.api import everywhere
    from cm_tui.model.ids import plain_id

    result = everywhere.recall_everywhere(question, limit, where, open_engine)
    if as_json:
        hits = [
            {"id": plain_id(one.hit.path), "project": one.project.id, "root": one.project.roots[0], **plain(one.hit)}
            for one in result.rows
        ]
        print_json({"query": question, "projects": result.projects, "hits": hits, "notes": result.notes})
        return
    for one in result.rows:
        write(f"{one.project.name}  ({one.project.roots[0]})", bold=one.project.name)
        show_remembered(one.hit, explain=explain)
    narrate(f"{count(len(result.rows), 'hit')} of {count(result.projects, 'project')}")
    narrate_notes(result.notes)


def pack(
    question: Annotated[str, typer.Argument(help="What the chat is about.")],
    budget: Annotated[int, typer.Option("--budget", min=1, help="Tokens at most.")] = 4000,
    form: Annotated[str, typer.Option("--format", help="markdown or json.")] = "markdown",
    neighbours: Annotated[bool, typer.Option("--neighbours/--no-neighbours", help="Add callers and callees.")] = True,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Choose what answers a question, within a budget, ready to paste into a chat."""
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
    narrate_notes(result.notes)
