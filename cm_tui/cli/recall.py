"""`cm recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cm_tui.cli.options import Json, Project, open_fresh_engine, project_of, refuse_empty
from cm_tui.counts import count

if TYPE_CHECKING:
    from cm_tui.model import EpisodeFilter, SearchResult


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("recall")(recall)


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
    from cm_tui.cli.hits import show_remembered
    from cm_tui.cli.output import narrate, print_json
    from cm_tui.errors import UsageError

    refuse_empty(question, 'cm recall "why did we revert the cache"')
    where = _filter(agent=agent, session=session, file=file, tag=tag, since=since, until=until, archived=archived)
    if everywhere:
        if project_of(project) is not None:
            raise UsageError("--everywhere asks all projects.", hint="Leave out --project.")
        from cm_tui.cli.recall_everywhere import recall_everywhere

        recall_everywhere(question, limit, where, explain=explain, as_json=as_json)
        return
    with open_fresh_engine(project, of_memory=True) as engine:
        result = engine.recall(question, limit=limit, where=where)
        engine.note_recalled([hit.path for hit in result.hits])
        is_empty = not result.total and not engine.episodes(limit=1).rows and not engine.entries(limit=1).rows
    if as_json:
        print_json(result_object(result))
        return
    for hit in result.hits:
        show_remembered(hit, explain=explain)
    narrate(f"{len(result.hits)} of {count(result.total, 'candidate')}, {result.mode}, {result.took_ms:.0f} ms")
    for note in result.notes:
        narrate(f"note: {note}")
    if is_empty and where is None:
        narrate("`cm import` records past sessions of agents, `cm remember TEXT` writes something down")


def _filter(
    *, agent: str, session: str, file: str, tag: str, since: str, until: str, archived: bool
) -> EpisodeFilter | None:
    """The episodes that are wanted; None: everything that is remembered.

    Raises:
        UsageError: a day is none.
    """
    if not any((agent, session, file, tag, since, until, archived)):
        return None
    from cm_tui.model import EpisodeFilter
    from cm_tui.model.dates import instant

    return EpisodeFilter(
        agents=(agent,) if agent else (), session=session, file=file, tags=(tag,) if tag else (),
        since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end=True) if until else None, state="archived" if archived else "shown",
    )  # fmt: skip


def result_object(result: SearchResult) -> dict[str, Any]:
    """Return what was remembered as JSON has it, each with its id."""
    from cm_tui.cli.output import plain
    from cm_tui.model.ids import plain_id

    hits = [{"id": plain_id(hit.path), **plain(hit)} for hit in result.hits]
    names = ("query", "mode", "took_ms", "total", "notes", "generation")
    return {**{name: plain(getattr(result, name)) for name in names}, "hits": hits}
