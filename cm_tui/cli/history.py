"""`cm at`, `cm life`, `cm drift`, `cm history`, `cm prune`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cm_tui.cli.code import symbol_line, symbol_row
from cm_tui.cli.options import Json, Project, add_family, ensure_history, open_engine, open_fresh_engine, under_old_name
from cm_tui.cli.output import follow, narrate, narrate_notes, plain, print_json, print_page, write
from cm_tui.counts import count
from cm_tui.errors import UsageError
from cm_tui.model.layout import commit_line

if TYPE_CHECKING:
    from cm_tui.model import (
        Drift,
        DriftRow,
        FileEntry,
        HistoryStatus,
        PruneReport,
        SymbolChange,
        SymbolEvent,
        SymbolHistory,
    )

Ref = Annotated[
    str,
    typer.Argument(
        help="Any branch, tag or commit; #17: the 17th commit of the mainline; 2024-05-01: before that day."
    ),
]
Rows = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many rows at most.")]


class What(StrEnum):
    """What `cm at` lists."""

    symbols = "symbols"
    files = "files"


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("at")(at)
    app.command("life")(life)
    app.command("drift")(drift)
    app.command("prune")(prune)
    app.command("vacuum", hidden=True)(under_old_name("vacuum", "prune", prune))
    help_text = "How much of the history is known, and reading more of it."
    add_family(app, "history", help_text, status, backfill, line)


def at(
    ref: Ref,
    what: Annotated[What, typer.Argument(help="What to list.")] = What.symbols,
    file: Annotated[str | None, typer.Option("--file", help="Only symbols of this file.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="Only symbols of this kind: function, class, …")] = None,
    match: Annotated[str | None, typer.Option("--match", help="Fuzzy; best fit first.")] = None,
    folder: Annotated[str, typer.Option("--folder", help="Only files below this folder.")] = "",
    limit: Rows = 1000,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List the symbols or files that were there at a revision."""
    if what is What.files and (file or kind or match):
        raise UsageError("--file, --kind and --match choose among symbols.", hint="Use --folder with files.")
    if what is What.symbols and folder:
        raise UsageError("--folder chooses among files.", hint=f"Write: cm at {ref} files --folder {folder}")
    with open_fresh_engine(project) as engine:
        ensure_history(engine, ref)
        if what is What.files:
            files = engine.files_at(ref, folder)
            print_page(files, _file_line, as_json=as_json)
            return
        page = engine.symbols_at(ref, file=file, kind=kind, match=match, limit=limit)
    print_page(page, symbol_line, as_json=as_json, row=symbol_row)


def life(
    name: Annotated[str, typer.Argument(help="A name, or any tail of a qualified one; also of what is gone.")],
    callers: Annotated[bool, typer.Option("--callers", help="Also who called what is gone, before it went.")] = False,
    limit: Rows = 20,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Tell the life of a symbol: when it came, each change, when it left, whether it came back."""

    def row(one: SymbolHistory) -> dict[str, Any]:
        return {
            **plain(one), "path": one.key.path, "qualname": one.key.qualname, "kind": one.key.kind,
            "line": one.events[-1].line if one.events else 0,
        }  # fmt: skip

    with open_fresh_engine(project) as engine:
        page = engine.symbol_history(name, callers=callers, limit=limit)
        status = engine.history()
    print_page(page, _life_lines, as_json=as_json, row=row)
    if not status.complete:
        narrate(status.text)


def drift(
    since: Annotated[
        str | None,
        typer.Option("--since", help="Also what changed since this revision; `last`: since you last looked."),
    ] = None,
    looked: Annotated[
        bool, typer.Option("--looked", help="Remember the indexed commit as where you last looked.")
    ] = False,
    limit: Rows = 1000,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Show where the index and the checkout differ, symbol by symbol; what is shown is not brought up to date."""
    with open_engine(project) as engine:
        if since is not None and since != "last":
            ensure_history(engine, since)
        found = engine.drift(since, looked=looked, limit=limit)
    if as_json:
        rows = [{**plain(row), "qualname": row.symbol} for row in found.rows]
        print_json({**plain(found), "rows": rows})
    else:
        _show_drift(found)


def prune(
    before: Annotated[str | None, typer.Option("--before", help="Drop what was before this revision.")] = None,
    older_than: Annotated[
        str | None, typer.Option("--older-than", help="Drop what is older: 30d, 12w, 6m, 2y.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Drop all of the history.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; do nothing.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Drop indexed history that is no longer needed; `cm history backfill` reads it from git again."""
    with open_fresh_engine(project) as engine:
        report = engine.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)
    print_json(report) if as_json else _show_pruned(report)


def status(project: Project = None, as_json: Json = False) -> None:
    """Say how far back the history is known."""
    with open_fresh_engine(project) as engine:
        state = engine.history()
    print_json(state) if as_json else _show_history(state)


def backfill(
    depth: Annotated[int | None, typer.Option("--depth", min=1, help="How many commits back from HEAD.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="A revision or a date to go back to.")] = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Read the history from git; a later call goes on where this one was stopped."""
    with open_fresh_engine(project) as engine:
        place = engine.resolve(since) if since is not None else None
        if place is not None and (place.moment.ahead or not place.exact):
            narrate(place.said)
        follow(engine.backfill(depth=depth, since=since))
        state = engine.history()
    print_json(state) if as_json else _show_history(state)


def line(
    match: Annotated[str, typer.Option("--match", help="Words of subject, author, date or sha.")] = "",
    before: Annotated[int | None, typer.Option("--before", help="Only commits below this ordinal.")] = None,
    limit: Rows = 50,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """List the commits of HEAD's first-parent line, newest first."""
    with open_fresh_engine(project) as engine:
        page = engine.mainline(match=match, before=before, limit=limit)
    print_page(page, commit_line, as_json=as_json)


def _file_line(file: FileEntry) -> str:
    if file.language == "absent":
        return f"{file.path}  {file.error}"
    return f"{file.path}  {file.language}, {count(file.lines, 'line')}, {count(file.symbols, 'symbol')}"


def _life_lines(one: SymbolHistory) -> list[str]:
    state = "alive" if one.alive else "gone"
    head = f"{one.key.kind} {one.key.qualname}  {one.key.path}  ({state})"
    lines = [head, *(f"  {_event_line(event)}" for event in one.events), *(f"  note: {note}" for note in one.notes)]
    if one.callers_before is not None:
        lines.append(f"  called by, before it went ({one.callers_before.total:,}):")
        lines += [f"    {edge.site}:{edge.line}  {edge.qualname}  {edge.text}" for edge in one.callers_before.rows]
    return lines


def _event_line(event: SymbolEvent) -> str:
    way = "to" if event.what == "left" else "from"
    other = f" {way} {event.other.path} {event.other.qualname}" if event.other is not None else ""
    return f"{event.what:<9} {event.path}:{event.line}{other}  {commit_line(event.moment)}"


def _change_line(change: SymbolChange) -> str:
    symbol, before = change.symbol, change.before
    origin = f"  from {before.path} {before.qualname}" if change.change == "moved" and before else ""
    return f"{change.change:<9} {symbol.path}:{symbol.line}  {symbol.kind} {symbol.qualname}{origin}"


def _drift_line(row: DriftRow) -> str:
    return f"{row.state:<10} {row.path}:{row.line}  {row.kind} {row.symbol}  {row.why}"


def _show_drift(found: Drift) -> None:
    for row in found.rows:
        write(_drift_line(row))
    if found.changes is not None and found.since is not None:
        # The line names where it lies.
        note = found.changes.note.removesuffix(found.since.said).rstrip("; ")
        write(f"since {commit_line(found.since.moment)}: {note or 'no symbol changed'}")
        for change in found.changes.rows:
            write(_change_line(change))
        if found.since.note and found.since.note not in found.changes.note:
            narrate(found.since.note)
    narrate(
        "the index reflects this checkout"
        if found.current
        else f"{count(found.files, 'file')}, {count(found.total, 'row')} differ"
    )
    if not found.current:
        narrate("`cm index` mends all of it, `cm index PATH` one file")
    narrate_notes(found.notes)


def _show_pruned(report: PruneReport) -> None:
    would = "would drop" if report.dry_run else "dropped"
    write(
        f"{would} {count(report.commits, 'commit')}: {count(report.spans, 'span')}, {count(report.blobs, 'file version')} "
        f"({report.bytes / 1e6:,.1f} MB of source), {count(report.symbols, 'symbol')}, {count(report.references, 'reference')}"
    )
    if report.note:
        narrate(report.note)


def _show_history(state: HistoryStatus) -> None:
    write(state.text)
    if state.blobs:
        write(f"kept for the past alone: {count(state.blobs, 'file version')}")
    if state.vacuumed:
        write(state.vacuumed)
    if state.running:
        narrate("history is being read")
    narrate_notes(state.notes)
