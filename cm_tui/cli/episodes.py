"""`cm episodes`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from typer.core import TyperGroup

from cm_tui import model
from cm_tui.cli.declare import Bounds, Family
from cm_tui.cli.options import Rows, Yes, ask, open_engine, open_fresh_engine, text_of
from cm_tui.cli.output import (
    as_json,
    narrate,
    narrate_notes,
    plain,
    print_json,
    print_page,
    wants_json,
    write,
    write_text,
)
from cm_tui.counts import count, noun
from cm_tui.errors import UsageError
from cm_tui.model.dates import day, instant, length, local_minute
from cm_tui.model.layout import commit_line, forgotten

# --- `cm episodes retention`, `cm episodes purge` ---


def _days(text: str) -> float:
    """Return the days of an age; a plain number counts days."""
    seconds = float(text) * 86_400 if re.fullmatch(r"\d+(\.\d+)?", text) else length(text)
    if seconds is None:
        raise UsageError(f"--older-than: {text[:40]!r} is not an age.", hint="Give days, or an age: 30d, 12w, 6mo, 1y.")
    return seconds / 86_400


Older = Annotated[
    float | None,
    typer.Option("--older-than", parser=_days, metavar="DAYS", help="Everything older than this: 30, 12w, 6mo."),
]


def retention(*, apply: bool = False, older_than: Older = None, yes: Yes = False) -> None:
    """Say what leaves the journal by its age; --apply moves it to the archive, which is searched with --state archived.

    Args:
        apply: Move to the archive what is old enough.
    """
    with open_engine() as engine:
        report = engine.retention(older_than=older_than)
        if apply:
            if report.archived:
                if not wants_json():
                    _show_rows(report)
                if not yes:
                    ask(f"Move {count(report.archived, 'episode')} to the archive?", "Pass --yes.")
            # Also where nothing is old enough: a process that was killed may have left something half moved.
            report = engine.retention(apply=True, older_than=older_than)
    if as_json(report):
        return
    if report.dry_run:
        _show_rows(report)
    _show_totals(report)


def purge(ids: list[str] | None = None, *, older_than: Older = None, dry_run: bool = False, yes: Yes = False) -> None:
    """Delete episodes from the archive, for good.

    Args:
        ids ([ID]...): Archived episodes.
        dry_run: Say what would go; do nothing.
    """
    with open_engine() as engine:
        report = engine.purge(ids or (), older_than=older_than, dry_run=True)
        if report.ids and not dry_run:
            if not yes:
                ask(f"Permanently delete {count(len(report.ids), 'episode')}?", "Pass --yes.")
            report = engine.purge(ids or (), older_than=older_than)
    if as_json(report):
        return
    done = "would be deleted" if report.dry_run else "deleted"
    narrate(f"{count(len(report.ids), 'episode')} {done}, {report.bytes:,} bytes")
    narrate_notes(report.notes)


def _show_rows(report: model.RetentionReport) -> None:
    for row in report.rows:
        write(f"{row.id}  {day(row.time)}  {row.bytes:,} bytes  {row.reason}  {' '.join(row.title.split())}")
    if len(report.rows) < report.archived:
        narrate(f"… and {report.archived - len(report.rows):,} more")


def _show_totals(report: model.RetentionReport) -> None:
    would = "would go" if report.dry_run else "went"
    narrate(f"{count(report.archived, 'episode')} {would} to the archive, {report.archived_bytes:,} bytes")
    if report.waiting:
        narrate(f"{count(report.waiting, 'episode')} {noun(report.waiting, 'waits', 'wait')} for the narrator")
    halved = ", over it: all ages are halved" if report.halved else ""
    narrate(f"journal: {report.journal_bytes:,} of {report.cap_bytes:,} bytes{halved}")
    narrate(f"archive: {count(report.in_archive, 'episode')}, {report.archive_bytes:,} bytes")
    narrate_notes(report.notes)


if TYPE_CHECKING:
    from collections.abc import Iterator


# --- how episodes, sessions and totals stand on a terminal and in JSON ---

ID_LETTERS = 16
"""As much of an id as tells episodes apart that were not recorded in the same nanosecond: an import writes many at once."""
_ONE_BY_ONE = ("patch", "steps", "plan")
"""Fields that lists do not have."""
_BARS = " ▁▂▃▄▅▆▇█"
_STEP_CHARACTERS = 200
_TOLD = 8


def row(one: model.Episode) -> dict[str, Any]:
    """Return an episode as a row of JSON."""
    found: dict[str, Any] = plain(one)
    return {name: value for name, value in found.items() if name not in _ONE_BY_ONE}


def line(one: model.Episode) -> str:
    """Return an episode as a line for people."""
    where = f"#{one.moment.ordinal} {one.sha[:10]}" if one.moment else one.sha[:10] or "no commit"
    asked = " ".join(one.prompts[0].split()) if one.prompts else "(no prompt)"
    marks = [one.outcome if one.outcome != "ok" else "", "pinned" if one.pinned else ""]
    marks += [{1: "useful", -1: "misleading"}.get(one.rating, ""), *(f"+{tag}" for tag in one.tags)]
    marked = "".join(f"  {mark}" for mark in marks if mark)
    # `cm episodes ID` prints the whole reason; without an index it is unknown.
    why = "  (not in this repository)" if one.sha and one.moment is None and one.why else ""
    who = one.agent or ("you" if one.actor == "person" else "agent")
    return f"{one.id[:ID_LETTERS]}  {local_minute(one.time)}  {where}  {who}  {asked}{marked}{why}"


def session_line(one: model.Session) -> str:
    """Return a session as a line for people."""
    title = " ".join(one.title.split()) or "(no prompt)"
    parts = [one.id or "no session", local_minute(one.ended), one.agent or "you", count(one.episodes, "episode")]
    parts.append(f"{one.failed:,} failed" if one.failed else "")
    parts += [f"below {one.parent}" if one.parent else "", title]
    return "  ".join(part for part in parts if part)


def shown(one: model.Episode) -> str:
    """Return an episode whole, as text."""
    return "\n".join(_full_text(one))


def _full_text(one: model.Episode) -> Iterator[str]:
    yield f"episode {one.id}  {local_minute(one.time)}"
    if one.forgotten is not None:
        yield f"{forgotten(one.forgotten)}; `cm forget --undo {one.id}` restores it"
    who = one.agent or ("you" if one.actor == "person" else "an agent")
    yield f"{who}, session {one.session or 'unknown'}, in {one.root}"
    yield from _facts(one)
    if one.moment is not None:
        yield f"at {commit_line(one.moment)}"
    if one.head != one.sha:
        yield f"HEAD was {one.head[:10] or 'nothing'} when it stopped: the patch starts before its commits"
    texts = [*(("asked", prompt) for prompt in one.prompts), ("planned", one.plan), ("answered", one.answer)]
    for title, text in (*texts, ("verdict", one.verdict)):
        if text.strip():
            yield from ("", f"{title}:", *(f"  {part}" for part in text.splitlines()))
    if one.steps:
        yield from ("", f"steps ({one.step_count:,}):", *(f"  {_step(step)}" for step in one.steps))
    if one.files:
        yield from ("", "files:", *(f"  {path}" for path in one.files))
    if one.patch:
        yield from ("", "patch:", one.patch.rstrip("\n"))


def _facts(one: model.Episode) -> Iterator[str]:
    facts = [
        one.type if one.type != "task" else "", f"outcome {one.outcome}" if one.outcome else "",
        f"{one.tokens:,} tokens" if one.tokens else "", f"tools {', '.join(one.tools)}" if one.tools else "",
        f"tags {', '.join(one.tags)}" if one.tags else "", "pinned" if one.pinned else "",
        {1: "rated useful", -1: "rated misleading"}.get(one.rating, ""), "archived" if one.state == "archived" else "",
    ]  # fmt: skip
    if said := "; ".join(fact for fact in facts if fact):
        yield said


def _step(step: model.Step) -> str:
    text = " ".join(f"{step.tool or step.kind}: {step.text}".split())
    return f"{text[:_STEP_CHARACTERS]}{'  (failed)' if step.failed else ''}"


def notes_of(one: model.Episode) -> list[str]:
    """Return the notes and warnings of an episode."""
    notes = [one.why, one.note]
    if one.patch_cut:
        notes.append("the patch was too long; only its beginning is shown")
    if one.redacted:
        notes.append(f"{count(one.redacted, 'secret')} redacted in the patch")
    return [note for note in notes if note]


def stats_lines(stats: model.EpisodeStats) -> Iterator[str]:
    """Yield totals as lines for people."""
    totals = (count(stats.episodes, "episode"), count(stats.sessions, "session"), count(stats.files, "file"))
    yield "  ".join((*totals, count(stats.tokens, "token")))
    most = max(stats.per_day, default=0)
    bars = "".join(_BARS[-(-number * (len(_BARS) - 1) // most)] if most else " " for number in stats.per_day)
    yield f"last {count(len(stats.per_day), 'day')}: {bars}  at most {most:,} a day"
    named = (("outcomes", stats.outcomes), ("types", stats.types), ("agents", stats.agents), ("tools", stats.tools))
    for name, facets in (*named, ("tags", stats.tags)):
        if facets:
            yield f"{name}: {', '.join(map(_facet, facets[:_TOLD]))}"


def _facet(facet: model.Facet) -> str:
    return f"{facet.value or 'none'} {facet.count:,}"


# --- `cm episodes` ---

Outcome = Literal["ok", "failed", "interrupted", "unanswered"]
Match = Annotated[
    str, typer.Option("--match", help="Words of prompt, answer, title, agent, session, paths, day, sha or #17.")
]
Before = Annotated[
    str | None,
    typer.Option("--before", help="Only rows after this id (or unique prefix): the next page."),
]
Ids = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, unique prefixes, or `last`.")]


class _Group(TyperGroup):
    """`cm episodes ID` shows one, as it did before there were commands below it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            return super().resolve_command(ctx, ["show", *args])
        return super().resolve_command(ctx, args)


def alone(*, match: Match = "", before: Before = None, limit: Rows = 50) -> None:
    """What agents' sessions and people recorded: without a command the newest are listed; `cm episodes ID` shows one."""
    list_(match=match, before=before, limit=limit)


def list_(
    *,
    match: Match = "",
    types: list[str] | None = None,
    tools: list[str] | None = None,
    outcomes: list[str] | None = None,
    agents: list[str] | None = None,
    tags: list[str] | None = None,
    file: str = "",
    session: str = "",
    since: str = "",
    until: str = "",
    pinned: bool | None = None,
    rated: Annotated[int | None, Bounds(-1, 1)] = None,
    state: model.EpisodeState = "shown",
    archived: bool = False,
    sessions: bool = False,
    stats: bool = False,
    before: Before = None,
    limit: Rows = 50,
) -> None:
    """List what agents' sessions and people recorded, newest first; of several values of an option one is enough.

    Args:
        types (--type): Only of this type: task, command, query, response, tool_call, error, note.
        tools (--tool): Only those that used this tool.
        outcomes (--outcome): Only with this outcome: ok, failed, interrupted, unanswered, or none.
        agents (--agent): Only of this agent.
        tags (--tag): Only with this tag.
        file: Only those that touched this path, or one below it.
        session: Only of this session: its id, or a beginning of it.
        since: Only from then on: 2024-05-01, yesterday, 30d.
        until: Only until then, the day included: 2024-05-01, yesterday, 30d.
        pinned (--pinned/--not-pinned): Only those that are pinned, or are not.
        rated: Only rated so: 1 useful, -1 misleading, 0 not.
        state: What became of them.
        archived: Those of the archive: the same as --state archived.
        sessions: List their sessions instead.
        stats: Only totals, and how often each value is there.
    """
    if sessions and stats:
        raise UsageError("Choose one of --sessions and --stats.")
    if archived and state not in ("shown", "archived"):
        raise UsageError("Choose one of --archived and --state.")
    where = model.EpisodeFilter(
        text=match, types=_known("--type", types, get_args(model.EpisodeType)), tools=tuple(tools or ()), agents=tuple(agents or ()), tags=tuple(tags or ()),
        outcomes=tuple("" if one == "none" else one for one in _known("--outcome", outcomes, (*get_args(Outcome), "none"))),
        file=file, session=session, since=instant(since, "--since") if since else None,
        until=instant(until, "--until", end=True) if until else None, pinned=pinned, rating=rated, state="archived" if archived else state,
    )  # fmt: skip
    if stats:
        _totals(where)
    elif sessions:
        _sessions(where, before, limit)
    else:
        _list(where, before, limit)


def _known(option: str, given: list[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of an option. Raises UsageError if there is no such value."""
    for value in given or ():
        if value not in known:
            raise UsageError(f"{option}: there is no {value[:40]!r}.", hint=f"Use one of {', '.join(known)}.")
    return tuple(given or ())


def _list(where: model.EpisodeFilter, before: str | None, limit: int) -> None:
    with open_fresh_engine(of_memory=True) as engine:
        page = engine.episodes(where=where, before=before, limit=limit)
    print_page(page, line, row=row)
    if not page.total and where == model.EpisodeFilter():
        narrate(
            "no sessions recorded yet; `cm agent install AGENT` connects an agent, `cm import` imports past sessions"
        )


def _sessions(where: model.EpisodeFilter, before: str | None, limit: int) -> None:
    with open_engine() as engine:
        page = engine.sessions(where=where, before=before, limit=limit)
    print_page(page, session_line)


def _totals(where: model.EpisodeFilter) -> None:
    with open_engine() as engine:
        found = engine.episode_stats(where=where)
    if found.note:
        narrate(found.note)
    if as_json(found):
        return
    for text in stats_lines(found):
        write(text)


def show(name: str) -> None:
    """Show one episode whole, one that was forgotten too; `cm --episode ID` opens the application at what it saw.

    Args:
        name (ID): Its id, a beginning of it, or `last`.
    """
    with open_fresh_engine(of_memory=True) as engine:
        one = engine.episode(name)
    if as_json(one):
        return
    write_text(shown(one))
    narrate_notes(notes_of(one))


def record(
    text: str,
    *,
    kind: Literal["note", "command", "query", "response", "error"] = "note",
    answer: str = "",
    outcome: Outcome | None = None,
    title: str = "",
    files: list[str] | None = None,
    tags: list[str] | None = None,
    session: str = "",
) -> None:
    """Record an episode by hand; `cm undo` undoes it.

    Args:
        text: What was noted, run or asked; `-` reads it from stdin.
        kind (--type): What it was.
        answer: What came of it.
        outcome: How it ended.
        title: What its session is called.
        files (--file): A path that it is about.
        tags (--tag): A word to find it by.
        session: Its session; default: that of the day.
    """
    with open_engine() as engine:
        one = engine.record_episode(
            text_of(text),
            type=kind,
            answer=answer,
            title=title,
            outcome=outcome or "",
            files=files or (),
            tags=tags or (),
            session=session,
        )
    print_json(row(one)) if wants_json() else narrate(f"recorded as {one.id}")


def tag(ids: Ids, *, add: list[str] | None = None, remove: list[str] | None = None) -> None:
    """Tag episodes, or take tags from them.

    Args:
        add (--add, -t): A tag that they get.
        remove (--remove, -r): A tag that they lose.
    """
    if not add and not remove:
        raise UsageError("No tag given.", hint="cm episodes tag ID --add bug --remove draft")
    _edit(ids, model.EpisodeEdit(add_tags=tuple(add or ()), remove_tags=tuple(remove or ())))


def pin(ids: Ids, *, undo: bool = False) -> None:
    """Pin episodes: they are kept longest, and no agent changes them.

    Args:
        undo: Pin them no longer.
    """
    _edit(ids, model.EpisodeEdit(pinned=not undo))


def rate(ids: Ids, *, useful: bool = False, misleading: bool = False, clear: bool = False) -> None:
    """Say whether episodes were useful.

    Args:
        useful: They were useful.
        misleading: They misled.
        clear: Remove the rating.
    """
    if useful + misleading + clear != 1:
        raise UsageError("Choose one of --useful, --misleading and --clear.")
    _edit(ids, model.EpisodeEdit(rating=useful - misleading))


def forget(ids: Ids, *, undo: bool = False) -> None:
    """Forget episodes, as `cm forget` does: lists, search and agents have them no more; --undo brings them back.

    Args:
        undo: Bring them back.
    """
    _edit(ids, model.EpisodeEdit(forgotten=not undo))


def _edit(ids: list[str], edit: model.EpisodeEdit) -> None:
    with open_engine() as engine:
        edited = engine.edit_episodes(ids, edit)
    print_json(edited) if wants_json() else narrate(f"{edited.words}; `cm undo` undoes it")


episodes = Family("", (list_, show, record, tag, pin, rate, forget, retention, purge), alone=alone, group=_Group)
