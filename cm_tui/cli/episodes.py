"""`cm episodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cm_tui.cli import episode_rows
from cm_tui.cli.options import Json, Project, open_engine, open_fresh_engine
from cm_tui.cli.output import narrate, narrate_notes, print_json, print_page, write, write_text
from cm_tui.errors import UsageError
from cm_tui.model.dates import instant

if TYPE_CHECKING:
    from cm_tui.model import EpisodeEdit, EpisodeFilter

OUTCOMES = ("ok", "failed", "interrupted", "unanswered")
TYPES = ("task", "command", "query", "response", "tool_call", "error", "note")
Match = Annotated[
    str, typer.Option("--match", help="Words of prompt, answer, title, agent, session, paths, day, sha or #17.")
]
Before = Annotated[
    str | None,
    typer.Option("--before", help="Only those behind this id in the list, or a beginning of it: the next page."),
]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")]
Types = Annotated[list[str] | None, typer.Option("--type", help=f"Only of this type: {', '.join(TYPES)}.")]
Tools = Annotated[list[str] | None, typer.Option("--tool", help="Only those that used this tool.")]
Outcomes = Annotated[
    list[str] | None, typer.Option("--outcome", help=f"Only with this outcome: {', '.join(OUTCOMES)}, or none.")
]
Agents = Annotated[list[str] | None, typer.Option("--agent", help="Only of this agent.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="Only with this tag.")]
File = Annotated[str, typer.Option("--file", help="Only those that touched this path, or one below it.")]
Session = Annotated[str, typer.Option("--session", help="Only of this session: its id, or a beginning of it.")]
Since = Annotated[str, typer.Option("--since", help="Only from then on: 2024-05-01, yesterday, 30d.")]
Until = Annotated[str, typer.Option("--until", help="Only until then, the day included: 2024-05-01, yesterday, 30d.")]
Pinned = Annotated[bool | None, typer.Option("--pinned/--not-pinned", help="Only those that are pinned, or are not.")]
Rated = Annotated[
    int | None, typer.Option("--rated", min=-1, max=1, help="Only rated so: 1 useful, -1 misleading, 0 not.")
]
State = Annotated[str, typer.Option("--state", help="shown, forgotten or archived.")]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, beginnings of ids, or `last`.")]


class _Family(TyperGroup):
    """`cm episodes ID` shows one, as it did before there were commands below it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    from cm_tui.cli.episode_upkeep import purge, retention

    family = typer.Typer(cls=_Family, invoke_without_command=True, help=episodes.__doc__)
    family.callback()(episodes)
    family.command("list")(listing)
    for command in (show, record, tag, pin, rate, forget, retention, purge):
        family.command(command.__name__)(command)
    app.add_typer(family, name="episodes")


def episodes(
    context: typer.Context,
    match: Match = "",
    before: Before = None,
    limit: Limit = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """What agents' sessions and people recorded: without a command the newest are listed; `cm episodes ID` shows one."""
    if context.invoked_subcommand is None:
        listing(match=match, before=before, limit=limit, project=project, as_json=as_json)
        return
    from cm_tui.cli.options import PROJECT

    if match or before:
        raise UsageError("--match and --before go with the list.", hint=f"cm episodes list --match {match or 'TEXT'}")
    if project is not None:
        PROJECT.set(project)
    if as_json:
        context.default_map = {context.invoked_subcommand: {"as_json": True}}


def listing(
    match: Match = "",
    types: Types = None,
    tools: Tools = None,
    outcomes: Outcomes = None,
    agents: Agents = None,
    tags: Tags = None,
    file: File = "",
    session: Session = "",
    since: Since = "",
    until: Until = "",
    pinned: Pinned = None,
    rated: Rated = None,
    state: State = "shown",
    archived: Annotated[
        bool, typer.Option("--archived", help="Those of the archive: the same as --state archived.")
    ] = False,
    sessions: Annotated[bool, typer.Option("--sessions", help="List their sessions instead.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="Only totals, and how often each value is there.")] = False,
    before: Before = None,
    limit: Limit = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List what agents' sessions and people recorded, newest first; of several values of an option one is enough."""
    from cm_tui.model import EpisodeFilter

    if sessions and stats:
        raise UsageError("Choose one of --sessions and --stats.")
    if archived and state not in ("shown", "archived"):
        raise UsageError("Choose one of --archived and --state.")
    kind = _one_of("--state", "archived" if archived else state, ("shown", "forgotten", "archived"))
    where = EpisodeFilter(
        text=match, types=tuple(_one_of("--type", one, TYPES) for one in types or ()), tools=tuple(tools or ()), agents=tuple(agents or ()), tags=tuple(tags or ()),
        outcomes=tuple("" if one == "none" else _one_of("--outcome", one, OUTCOMES) for one in outcomes or ()),
        file=file, session=session, since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end=True) if until else None, pinned=pinned, rating=rated, state=kind,
    )  # fmt: skip
    if stats:
        _totals(where, project, as_json=as_json)
    elif sessions:
        _sessions(where, before, limit, project, as_json=as_json)
    else:
        _list(where, before, limit, project, as_json=as_json)


def _list(where: EpisodeFilter, before: str | None, limit: int, project: Project, *, as_json: bool) -> None:
    from cm_tui.model import EpisodeFilter

    with open_fresh_engine(project, of_memory=True) as engine:
        page = engine.episodes(where=where, before=before, limit=limit)
    print_page(page, episode_rows.line, as_json=as_json, row=episode_rows.row)
    if not page.total and where == EpisodeFilter():
        narrate("no agent's session was recorded yet: `cm agent install AGENT` wires one, `cm import` reads past ones")


def _sessions(where: EpisodeFilter, before: str | None, limit: int, project: Project, *, as_json: bool) -> None:
    with open_engine(project) as engine:
        page = engine.sessions(where=where, before=before, limit=limit)
    print_page(page, episode_rows.session_line, as_json=as_json)


def _totals(where: EpisodeFilter, project: Project, *, as_json: bool) -> None:
    with open_engine(project) as engine:
        found = engine.episode_stats(where=where)
    if found.note:
        narrate(found.note)
    if as_json:
        print_json(found)
        return
    for text in episode_rows.stats_lines(found):
        write(text)


def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="Its id, a beginning of it, or `last`.")],
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show one episode whole, one that was forgotten too; `cm --episode ID` opens the application at what it saw."""
    with open_fresh_engine(project, of_memory=True) as engine:
        one = engine.episode(name)
    if as_json:
        print_json(one)
        return
    write_text(episode_rows.shown(one))
    narrate_notes(episode_rows.notes_of(one))


def record(
    text: Annotated[str, typer.Argument(help="What was noted, run or asked; `-` reads it from stdin.")],
    kind: Annotated[str, typer.Option("--type", help="note, command, query, response or error.")] = "note",
    answer: Annotated[str, typer.Option("--answer", help="What came of it.")] = "",
    outcome: Annotated[str, typer.Option("--outcome", help=", ".join(OUTCOMES))] = "",
    title: Annotated[str, typer.Option("--title", help="What its session is called.")] = "",
    files: Annotated[list[str] | None, typer.Option("--file", help="A path that it is about.")] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by.")] = None,
    session: Annotated[str, typer.Option("--session", help="Its session; default: that of the day.")] = "",
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Record an episode by hand; `cm undo` undoes it."""
    made = _one_of("--type", kind, ("note", "command", "query", "response", "error"))
    came = _one_of("--outcome", outcome, ("", *OUTCOMES))
    said = _stdin() if text == "-" else text
    with open_engine(project) as engine:
        one = engine.record_episode(
            said,
            type=made,
            answer=answer,
            title=title,
            outcome=came,
            files=files or (),
            tags=tags or (),
            session=session,
        )
    print_json(episode_rows.row(one)) if as_json else narrate(f"recorded as {one.id}")


def _stdin() -> str:
    import sys

    return sys.stdin.read()


def _one_of(option: str, value: str, known: tuple[str, ...]) -> Any:
    if value not in known:
        shown = ", ".join(one for one in known if one)
        raise UsageError(f"{option}: there is no {value[:40]!r}.", hint=f"Use one of {shown}.")
    return value


def tag(
    ids: Ids,
    add: Annotated[list[str] | None, typer.Option("--add", "-t", help="A tag that they get.")] = None,
    remove: Annotated[list[str] | None, typer.Option("--remove", "-r", help="A tag that they lose.")] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Tag episodes, or take tags from them."""
    from cm_tui.model import EpisodeEdit

    if not add and not remove:
        raise UsageError("No tag is given.", hint="cm episodes tag ID --add bug --remove draft")
    _edit(ids, EpisodeEdit(add_tags=tuple(add or ()), remove_tags=tuple(remove or ())), project, as_json=as_json)


def pin(
    ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Pin them no longer.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Pin episodes: they are kept longest, and no agent changes them."""
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(pinned=not undo), project, as_json=as_json)


def rate(
    ids: Ids,
    useful: Annotated[bool, typer.Option("--useful", help="They were useful.")] = False,
    misleading: Annotated[bool, typer.Option("--misleading", help="They misled.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove the rating.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Say whether episodes were useful."""
    from cm_tui.model import EpisodeEdit

    if useful + misleading + clear != 1:
        raise UsageError("Choose one of --useful, --misleading and --clear.")
    _edit(ids, EpisodeEdit(rating=useful - misleading), project, as_json=as_json)


def forget(
    ids: Ids,
    undo: Annotated[bool, typer.Option("--undo", help="Bring them back.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Forget episodes, as `cm forget` does: lists, search and agents have them no more; --undo brings them back."""
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(forgotten=not undo), project, as_json=as_json)


def _edit(ids: list[str], edit: EpisodeEdit, project: Project, *, as_json: bool) -> None:
    with open_engine(project) as engine:
        edited = engine.edit_episodes(ids, edit)
    print_json(edited) if as_json else narrate(f"{edited.words}; `cm undo` undoes it")
