"""`cm remember` and `cm undo`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cm_tui.cli.entry_rows import entry_line, show_entry, tell_changed, tell_written
from cm_tui.cli.options import Json, Project, open_engine
from cm_tui.cli.output import narrate, narrate_notes, print_json, print_page, write, write_text
from cm_tui.counts import count, noun
from cm_tui.errors import UsageError

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.model import Entry, EntryEdit, Page, Scope


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("undo")(undo)
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
                    "--scope goes with a new entry.", hint=f"`cm entries move {name} --scope {scope}` moves this one."
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
    if scope not in {None, "user", "project"}:
        raise UsageError(f"There is no scope {scope!r}.", hint="Use `user` or `project`.")
    entry = engine.remember(
        text,
        category=category or "Experience",
        title=title or "",
        keywords=tuple((keywords or "").split("|")),
        scope=cast("Scope", scope or "project"),
    )
    tell_written(entry, as_json=as_json)


def _change(engine: Engine, name: str, edit: EntryEdit, *, as_json: bool) -> None:
    """Change an entry; show it where nothing is to change."""
    from cm_tui.model import EntryEdit

    if edit == EntryEdit():
        entry = engine.entry(name)
        print_json(entry) if as_json else show_entry(entry)
        return
    tell_changed(engine.update_entry(name, edit), as_json=as_json)


def _list(engine: Engine, match: str, category: str, scope: str, limit: int, *, forgotten: bool, as_json: bool) -> None:
    page: Page[Entry] = engine.entries(match=match, category=category, scope=scope, forgotten=forgotten, limit=limit)
    print_page(page, entry_line, as_json=as_json)
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


def undo(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be undone; change nothing.")] = False,
    theirs_too: Annotated[bool, typer.Option("--theirs-too", help="Also when the text was changed since.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Undo your last change in this project, of any kind; exits with 1 if the same text was changed since."""
    with open_engine(project) as engine:
        undone = engine.undo(dry_run=dry_run, theirs_too=theirs_too)
    if as_json:
        print_json(undone)
    else:
        narrate_notes(undone.notes)
        narrate(f"would be {undone.words}" if dry_run else undone.words)
        for one in undone.conflicts:
            write(f"{one.id}  {one.title}")
            by = f", by {one.changed_by}" if one.changed_by else ""
            for name, text in (("before your change", one.before), ("yours", one.yours), (f"now{by}", one.now)):
                parts = text.splitlines() or ["(nothing)"]
                write_text("\n".join([f"  {name}:", *(f"    {part}" for part in parts)]))
        if undone.conflicts and not theirs_too:
            narrate("changed since: `cm undo --theirs-too` puts it back all the same")
    if undone.conflicts and not theirs_too:
        raise typer.Exit(1)
