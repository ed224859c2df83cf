"""`cm remember`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cm_tui.cli.options import Json, Project, open_engine
from cm_tui.counts import count, noun
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model import Entry, EntryEdit, MemoryChange, Page, Scope

_TITLE = 60


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("remember")(remember)


def remember(
    text: Annotated[
        str | None, typer.Argument(help="What is to be remembered (-: stdin). Without it, entries are listed.")
    ] = None,
    category: Annotated[
        str | None, typer.Option("--as", help="rule, knowledge or experience (unless said: experience).")
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="What it is called; by default its first line.")] = None,
    keywords: Annotated[
        str | None, typer.Option("--keywords", help="Words that it is found by, with | between them.")
    ] = None,
    scope: Annotated[
        str | None,
        typer.Option("--scope", help="project (.cm/memory.json, unless said) or user: in all your projects."),
    ] = None,
    name: Annotated[str | None, typer.Option("--id", help="Change this entry, instead of writing a new one.")] = None,
    pin: Annotated[
        bool | None, typer.Option("--pin/--no-pin", help="With --id: keep it from being changed by agents, or let go.")
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="List what was forgotten: `cm forget --undo ID` brings it back.")
    ] = False,
    match: Annotated[str, typer.Option("--match", help="Of the list: only those that have these words.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Of the list: how many rows at most.")] = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Write an entry: a rule, something known, something learned. Alone it lists the entries, the last one first."""
    from cm_tui.model import EntryEdit

    given = _read(text)
    with open_engine(project) as engine:
        if name is not None:
            if match or forgotten:
                raise UsageError("--match and --forgotten go with the list, which has no --id.")
            if scope is not None:
                raise UsageError(
                    "An entry stays in its scope.", hint="Write it anew with --scope, and forget this one."
                )
            words = None if keywords is None else tuple(keywords.split("|"))
            _change(engine, name, EntryEdit(given, title, cast("Any", category), words, pin), as_json=as_json)
        elif given is None:
            if title is not None or keywords is not None or pin is not None:
                raise UsageError("There is nothing to remember.", hint='For example: cm remember "tests need redis"')
            _list(engine, match, category or "", scope or "", limit, forgotten=forgotten, as_json=as_json)
        else:
            if match or forgotten or pin is not None:
                raise UsageError("--match and --forgotten go with the list, --pin with --id.")
            _write(engine, given, category, title, keywords, scope, as_json=as_json)


def _read(text: str | None) -> str | None:
    return sys.stdin.read() if text == "-" else text


def _write(
    engine: Engine,
    text: str,
    category: str | None,
    title: str | None,
    keywords: str | None,
    scope: str | None,
    *,
    as_json: bool,
) -> None:
    from cm_tui.cli.output import narrate, print_json, write

    if scope not in {None, "user", "project"}:
        raise UsageError(f"There is no scope {scope!r}.", hint="Use `user` or `project`.")
    entry = engine.remember(
        text,
        category=category or "Experience",
        title=title or "",
        keywords=tuple((keywords or "").split("|")),
        scope=cast("Scope", scope or "project"),
    )
    for note in entry.notes:
        narrate(f"note: {note}")
    if as_json:
        print_json(entry)
        return
    write(line_of(entry))
    if entry.again:
        narrate(f"it stood there already, for {_where(entry)}: nothing was written")
        return
    narrate(f"remembered for {_where(entry)}; `cm forget {entry.id}` takes it back")
    if entry.redacted:
        narrate(f"note: taken out of it: {count(entry.redacted, 'secret')}")


def _where(entry: Entry) -> str:
    return "all your projects" if entry.scope == "user" else "this project, in .cm/memory.json"


def _change(engine: Engine, name: str, edit: EntryEdit, *, as_json: bool) -> None:
    """Change an entry; show it where nothing is to change."""
    from cm_tui.cli.output import narrate, print_json, write
    from cm_tui.model import EntryEdit

    if edit == EntryEdit():
        entry = engine.entry(name)
        print_json(entry) if as_json else _show(entry)
        return
    done: MemoryChange = engine.update_entry(name, edit)
    if as_json:
        print_json(done.entry)
        return
    assert done.entry is not None
    write(line_of(done.entry))
    narrate(f"{done.words}; `cm undo` takes it back" if done.change else f"{done.words}: nothing was changed")


def _list(engine: Engine, match: str, category: str, scope: str, limit: int, *, forgotten: bool, as_json: bool) -> None:
    from cm_tui.cli.output import narrate, print_page

    page: Page[Entry] = engine.entries(match=match, category=category, scope=scope, forgotten=forgotten, limit=limit)
    print_page(page, line_of, as_json=as_json)
    if as_json:
        return
    if forgotten:
        narrate("`cm forget --undo ID` brings one back" if page.total else "nothing was forgotten here")
        return
    if not page.total and not match:
        narrate('nothing was written down yet: cm remember "TEXT" writes an entry')
    if waiting := engine.proposals().total:
        wait = f"{count(waiting, 'proposal')} of agents {noun(waiting, 'waits', 'wait')}"
        narrate(f"{wait} for you: `cm forget --proposed` lists {noun(waiting, 'it', 'them')}")


def line_of(entry: Entry) -> str:
    """Return an entry as a line of a list."""
    from cm_tui.model.dates import local_minute

    by = entry.agent or entry.actor
    if entry.changed_by:
        by += f", changed by {entry.changed_agent or entry.changed_by}"
    marks = [
        mark
        for mark, is_so in (("pinned", entry.pinned), ("held", entry.held), ("user", entry.scope == "user"))
        if is_so
    ]
    said = " ".join(entry.content.split())
    title = "" if said.startswith(entry.title.rstrip("…")) else f"{entry.title[:_TITLE]}: "
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"{entry.id}  {local_minute(entry.timestamp / 1000)}  {entry.category}  {by}{marked}  {title}{said}"


def _show(entry: Entry) -> None:
    from cm_tui.cli.episode_rows import forgotten
    from cm_tui.cli.output import write, write_text
    from cm_tui.model.dates import local_minute

    write(f"{entry.category} {entry.id}  {entry.title}", bold=entry.id)
    by = f"{entry.actor} {entry.agent}".strip()
    last = f", changed by {entry.changed_by} {entry.changed_agent}".rstrip() if entry.changed_by else ""
    at = f", at {entry.commit[:10]}" if entry.commit else ""
    session = f", session {entry.session}" if entry.session else ""
    write(
        f"by {by}{last}{session}, {local_minute(entry.timestamp / 1000)}{at}, {entry.scope}{', pinned' if entry.pinned else ''}"
    )
    if entry.forgotten is not None:
        write(f"{forgotten(entry.forgotten)}; `cm forget --undo {entry.id}` brings it back")
    if entry.held:
        write("it came with the repository and is in no answer until you trust it: `cm trust`")
    if entry.keywords:
        write(f"keywords: {', '.join(entry.keywords)}")
    write_text(f"\n{entry.content}")
