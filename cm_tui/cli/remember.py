"""`cm remember` and `cm undo`."""

from __future__ import annotations

import typer

from cm_tui import model
from cm_tui.cli.declare import Positive
from cm_tui.cli.entries import add, edit_of, entry_line, print_changed, show_entry
from cm_tui.cli.options import open_engine
from cm_tui.cli.output import as_json, narrate, narrate_notes, print_json, print_page, wants_json, write, write_text
from cm_tui.counts import count, noun
from cm_tui.errors import UsageError


def remember(
    text: str | None = None,
    *,
    category: str | None = None,
    title: str | None = None,
    keywords: str | None = None,
    scope: model.Scope | None = None,
    name: str | None = None,
    pin: bool | None = None,
    forgotten: bool = False,
    match: str = "",
    limit: Positive = 50,
) -> None:
    """Write an entry: a rule, something known, something learned. Alone it lists the entries, the last one first.

    Args:
        text: What is to be remembered (-: stdin). Without it, entries are listed.
        category (--as): rule, knowledge or experience (unless said: experience).
        title: What it is called; by default its first line.
        keywords: Words that it is found by, with | between them.
        scope: project (.cm/memory.json, unless said) or user: in all your projects.
        name (--id): Change this entry, instead of writing a new one.
        pin (--pin/--no-pin): With --id: keep it from being changed by agents, or let go.
        forgotten: List what was forgotten: `cm forget --undo ID` brings it back.
        match: Of the list: only those that have these words.
        limit (--limit, -n): Of the list: how many rows at most.
    """
    if name is not None:
        if match or forgotten:
            raise UsageError("--match and --forgotten cannot be combined with --id.")
        if scope is not None:
            raise UsageError(
                "--scope applies to new entries only.", hint=f"`cm entries move {name} --scope {scope}` moves this one."
            )
        _change(name, edit_of(text, category, title, keywords, pin))
    elif text is None:
        if title is not None or keywords is not None or pin is not None:
            raise UsageError("Nothing to remember was given.", hint='For example: cm remember "tests need redis"')
        _list(match, category or "", scope or "", limit, forgotten=forgotten)
    elif match or forgotten or pin is not None:
        raise UsageError("--match and --forgotten apply to the list, --pin to --id.")
    else:
        add(content=text, category=category, title=title, keywords=keywords, scope=scope or "project")


def _change(name: str, edit: model.EntryEdit) -> None:
    """Change an entry; show it where nothing is to change."""
    with open_engine() as engine:
        if edit == model.EntryEdit():
            entry = engine.entry(name)
            print_json(entry) if wants_json() else show_entry(entry)
        else:
            print_changed(engine.update_entry(name, edit))


def _list(match: str, category: str, scope: str, limit: int, *, forgotten: bool) -> None:
    with open_engine() as engine:
        page = engine.entries(match=match, category=category, scope=scope, forgotten=forgotten, limit=limit)
        waiting = engine.proposals().total if not (forgotten or wants_json()) else 0
    print_page(page, entry_line)
    if wants_json():
        return
    if forgotten:
        narrate("`cm forget --undo ID` restores one" if page.total else "nothing has been forgotten here")
    elif not page.total and not match:
        narrate('no entries yet; cm remember "TEXT" adds one')
    if waiting:
        wait = f"{count(waiting, 'proposal')} of agents {noun(waiting, 'waits', 'wait')}"
        narrate(f"{wait} for you: `cm forget --proposed` lists {noun(waiting, 'it', 'them')}")


def undo(*, dry_run: bool = False, theirs_too: bool = False) -> None:
    """Undo your last change in this project, of any kind; exits with 1 if the same text was changed since.

    Args:
        dry_run: Print what would be undone; change nothing.
        theirs_too: Also when the text was changed since.
    """
    with open_engine() as engine:
        undone = engine.undo(dry_run=dry_run, theirs_too=theirs_too)
    if not as_json(undone):
        narrate_notes(undone.notes)
        narrate(f"would be {undone.words}" if dry_run else undone.words)
        for one in undone.conflicts:
            write(f"{one.id}  {one.title}")
            by = f", by {one.changed_by}" if one.changed_by else ""
            for name, text in (("before your change", one.before), ("yours", one.yours), (f"now{by}", one.now)):
                parts = text.splitlines() or ["(nothing)"]
                write_text("\n".join([f"  {name}:", *(f"    {part}" for part in parts)]))
        if undone.conflicts and not theirs_too:
            narrate("changed since: `cm undo --theirs-too` restores it anyway")
    if undone.conflicts and not theirs_too:
        raise typer.Exit(1)
