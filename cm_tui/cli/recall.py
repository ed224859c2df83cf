"""`cm recall` and `cm pack`."""

from __future__ import annotations

from dataclasses import replace

from cm_tui import model
from cm_tui.cli.declare import Positive
from cm_tui.cli.options import chosen_project, open_engine, open_fresh_engine, refuse_empty
from cm_tui.cli.output import advise, narrate, narrate_notes, plain, print_json, wants_json, write, write_text
from cm_tui.counts import count
from cm_tui.errors import UsageError
from cm_tui.model.dates import instant


def recall(
    question: str,
    *,
    limit: Positive = 10,
    agent: str = "",
    session: str = "",
    file: str = "",
    tag: str = "",
    since: str = "",
    until: str = "",
    archived: bool = False,
    everywhere: bool = False,
    explain: bool = False,
) -> None:
    """Ask what was said and decided: turns of past sessions, entries and notes, each with its age.

    Args:
        question: What you want to remember, in words.
        limit (--limit, -n): How many at most.
        agent: Only sessions of this agent.
        session: Only this session: its id, or a beginning of it.
        file: Only what touched this file, or a file below this folder.
        tag: Only what has this tag.
        since: Only from then on: 2024-05-01, yesterday, 30d.
        until: Only until then, the day included: 2024-05-01, yesterday, 30d.
        archived: Ask the archive, and nothing else.
        everywhere: Ask the memories of all projects on this machine.
        explain: Show how each score came to be.
    """
    from cm_tui.cli.hits import show_recalled

    refuse_empty(question, 'cm recall "why did we revert the cache"')
    given = model.EpisodeFilter(
        agents=(agent,) if agent else (), session=session, file=file, tags=(tag,) if tag else (),
        since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end=True) if until else None, state="archived" if archived else "shown",
    )  # fmt: skip
    where = None if given == model.EpisodeFilter() else given
    if everywhere:
        if chosen_project() is not None:
            raise UsageError("--everywhere asks all projects.", hint="Leave out --project.")
        recall_everywhere(question, limit, where, explain=explain)
        return
    with open_fresh_engine(of_memory=True) as engine:
        result = engine.recall(question, limit=limit, where=where)
        engine.note_recalled([hit.path for hit in result.hits])
        is_empty = not result.total and not engine.episodes(limit=1).rows and not engine.entries(limit=1).rows
    show_recalled(result, explain=explain)
    if is_empty and where is None:
        advise("`cm import` imports past sessions, `cm remember TEXT` saves an entry")


def recall_everywhere(question: str, limit: int, where: model.EpisodeFilter | None, *, explain: bool) -> None:
    """Ask each project on this machine that has an index or a journal, and print what they remember, best first."""
    from cm_tui.cli.hits import show_remembered
    from cm_tui.engine.api import everywhere

    result = everywhere.recall_everywhere(question, limit, where, open_engine)
    if wants_json():
        hits = [
            {
                "id": model.plain_id(one.hit.path),
                "project": one.project.id,
                "root": one.project.roots[0],
                **plain(one.hit),
            }
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
    question: str, *, budget: Positive = 4000, form: model.PackFormat = "markdown", neighbours: bool = True
) -> None:
    """Choose what answers a question, within a budget, ready to paste into a chat.

    Args:
        question: What the chat is about.
        budget: Tokens at most.
        form (--format): How it is printed.
        neighbours (--neighbours/--no-neighbours): Add callers and callees.
    """
    refuse_empty(question, 'cm pack "how are routes matched"')
    with open_fresh_engine() as engine:
        result = engine.pack(question, budget=budget, neighbours=neighbours)
        engine.note_recalled(result.recalled)
    if wants_json() or form == "json":
        from cm_tui.engine.api.outgoing import without_secrets

        items = [replace(one, path=without_secrets(one.path)) for one in result.items]
        print_json(replace(result, items=tuple(items)))
        return
    write_text(result.markdown)
    narrate(f"{result.tokens:,} of {result.budget:,} tokens")
    narrate_notes(result.notes)
