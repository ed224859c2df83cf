"""`cm episodes`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cm_tui.cli import episode_rows
from cm_tui.cli.declare import Bounds, Family
from cm_tui.cli.episode_upkeep import purge, retention
from cm_tui.cli.options import open_engine, open_fresh_engine
from cm_tui.cli.output import narrate, narrate_notes, print_json, print_page, wants_json, write, write_text
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
Outcomes = Annotated[
    list[str] | None, typer.Option("--outcome", help=f"Only with this outcome: {', '.join(OUTCOMES)}, or none.")
]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, beginnings of ids, or `last`.")]


class _Group(TyperGroup):
    """`cm episodes ID` shows one, as it did before there were commands below it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


def alone(*, match: Match = "", before: Before = None, limit: Limit = 50) -> None:
    """What agents' sessions and people recorded: without a command the newest are listed; `cm episodes ID` shows one."""
    list_(match=match, before=before, limit=limit)


def list_(
    *,
    match: Match = "",
    types: Types = None,
    tools: list[str] | None = None,
    outcomes: Outcomes = None,
    agents: list[str] | None = None,
    tags: list[str] | None = None,
    file: str = "",
    session: str = "",
    since: str = "",
    until: str = "",
    pinned: bool | None = None,
    rated: Annotated[int | None, Bounds(-1, 1)] = None,
    state: str = "shown",
    archived: bool = False,
    sessions: bool = False,
    stats: bool = False,
    before: Before = None,
    limit: Limit = 50,
) -> None:
    """List what agents' sessions and people recorded, newest first; of several values of an option one is enough.

    Args:
        tools (--tool): Only those that used this tool.
        agents (--agent): Only of this agent.
        tags (--tag): Only with this tag.
        file: Only those that touched this path, or one below it.
        session: Only of this session: its id, or a beginning of it.
        since: Only from then on: 2024-05-01, yesterday, 30d.
        until: Only until then, the day included: 2024-05-01, yesterday, 30d.
        pinned (--pinned/--not-pinned): Only those that are pinned, or are not.
        rated: Only rated so: 1 useful, -1 misleading, 0 not.
        state: shown, forgotten or archived.
        archived: Those of the archive: the same as --state archived.
        sessions: List their sessions instead.
        stats: Only totals, and how often each value is there.
    """
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
        _totals(where)
    elif sessions:
        _sessions(where, before, limit)
    else:
        _list(where, before, limit)


def _list(where: EpisodeFilter, before: str | None, limit: int) -> None:
    from cm_tui.model import EpisodeFilter

    with open_fresh_engine(of_memory=True) as engine:
        page = engine.episodes(where=where, before=before, limit=limit)
    print_page(page, episode_rows.line, row=episode_rows.row)
    if not page.total and where == EpisodeFilter():
        narrate("no agent's session was recorded yet: `cm agent install AGENT` wires one, `cm import` reads past ones")


def _sessions(where: EpisodeFilter, before: str | None, limit: int) -> None:
    with open_engine() as engine:
        page = engine.sessions(where=where, before=before, limit=limit)
    print_page(page, episode_rows.session_line)


def _totals(where: EpisodeFilter) -> None:
    with open_engine() as engine:
        found = engine.episode_stats(where=where)
    if found.note:
        narrate(found.note)
    if wants_json():
        print_json(found)
        return
    for text in episode_rows.stats_lines(found):
        write(text)


def show(name: str) -> None:
    """Show one episode whole, one that was forgotten too; `cm --episode ID` opens the application at what it saw.

    Args:
        name (ID): Its id, a beginning of it, or `last`.
    """
    with open_fresh_engine(of_memory=True) as engine:
        one = engine.episode(name)
    if wants_json():
        print_json(one)
        return
    write_text(episode_rows.shown(one))
    narrate_notes(episode_rows.notes_of(one))


def record(
    text: str,
    *,
    kind: str = "note",
    answer: str = "",
    outcome: Annotated[str, typer.Option("--outcome", help=", ".join(OUTCOMES))] = "",
    title: str = "",
    files: list[str] | None = None,
    tags: list[str] | None = None,
    session: str = "",
) -> None:
    """Record an episode by hand; `cm undo` undoes it.

    Args:
        text: What was noted, run or asked; `-` reads it from stdin.
        kind (--type): note, command, query, response or error.
        answer: What came of it.
        title: What its session is called.
        files (--file): A path that it is about.
        tags (--tag): A word to find it by.
        session: Its session; default: that of the day.
    """
    made = _one_of("--type", kind, ("note", "command", "query", "response", "error"))
    came = _one_of("--outcome", outcome, ("", *OUTCOMES))
    said = _stdin() if text == "-" else text
    with open_engine() as engine:
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
    print_json(episode_rows.row(one)) if wants_json() else narrate(f"recorded as {one.id}")


def _stdin() -> str:
    import sys

    return sys.stdin.read()


def _one_of(option: str, value: str, known: tuple[str, ...]) -> Any:
    if value not in known:
        shown = ", ".join(one for one in known if one)
        raise UsageError(f"{option}: there is no {value[:40]!r}.", hint=f"Use one of {shown}.")
    return value


def tag(ids: Ids, *, add: list[str] | None = None, remove: list[str] | None = None) -> None:
    """Tag episodes, or take tags from them.

    Args:
        add (--add, -t): A tag that they get.
        remove (--remove, -r): A tag that they lose.
    """
    from cm_tui.model import EpisodeEdit

    if not add and not remove:
        raise UsageError("No tag is given.", hint="cm episodes tag ID --add bug --remove draft")
    _edit(ids, EpisodeEdit(add_tags=tuple(add or ()), remove_tags=tuple(remove or ())))


def pin(ids: Ids, *, undo: bool = False) -> None:
    """Pin episodes: they are kept longest, and no agent changes them.

    Args:
        undo: Pin them no longer.
    """
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(pinned=not undo))


def rate(ids: Ids, *, useful: bool = False, misleading: bool = False, clear: bool = False) -> None:
    """Say whether episodes were useful.

    Args:
        useful: They were useful.
        misleading: They misled.
        clear: Remove the rating.
    """
    from cm_tui.model import EpisodeEdit

    if useful + misleading + clear != 1:
        raise UsageError("Choose one of --useful, --misleading and --clear.")
    _edit(ids, EpisodeEdit(rating=useful - misleading))


def forget(ids: Ids, *, undo: bool = False) -> None:
    """Forget episodes, as `cm forget` does: lists, search and agents have them no more; --undo brings them back.

    Args:
        undo: Bring them back.
    """
    from cm_tui.model import EpisodeEdit

    _edit(ids, EpisodeEdit(forgotten=not undo))


def _edit(ids: list[str], edit: EpisodeEdit) -> None:
    with open_engine() as engine:
        edited = engine.edit_episodes(ids, edit)
    print_json(edited) if wants_json() else narrate(f"{edited.words}; `cm undo` undoes it")


episodes = Family("", (list_, show, record, tag, pin, rate, forget, retention, purge), alone=alone, group=_Group)
