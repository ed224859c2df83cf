"""`cm at`, `cm life`, `cm drift`, `cm history`, `cm prune`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cm_tui import model
from cm_tui.cli.code import symbol_line, symbol_row
from cm_tui.cli.declare import Bounds, Family, declared
from cm_tui.cli.options import Rows, ensure_history, open_engine, open_fresh_engine, under_old_name
from cm_tui.cli.output import as_json, follow, narrate, narrate_notes, plain, print_json, print_page, wants_json, write
from cm_tui.counts import count, size
from cm_tui.errors import UsageError
from cm_tui.model.layout import commit_line


def at(
    ref: str,
    what: Literal["symbols", "files"] = "symbols",
    *,
    file: str | None = None,
    kind: str | None = None,
    match: str | None = None,
    folder: str = "",
    limit: Rows = 1000,
) -> None:
    """List the symbols or files that were there at a revision.

    Args:
        ref: Any branch, tag or commit; #17: the 17th commit of the mainline; 2024-05-01: before that day.
        what: What to list.
        file: Only symbols of this file.
        kind: Only symbols of this kind: function, class, …
        match: Fuzzy; best fit first.
        folder: Only files below this folder.
    """
    if what == "files" and (file or kind or match):
        raise UsageError("--file, --kind and --match choose among symbols.", hint="Use --folder with files.")
    if what == "symbols" and folder:
        raise UsageError("--folder chooses among files.", hint=f"Write: cm at {ref} files --folder {folder}")
    with open_fresh_engine() as engine:
        ensure_history(engine, ref)
        if what == "files":
            print_page(engine.files_at(ref, folder), _file_line)
            return
        page = engine.symbols_at(ref, file=file, kind=kind, match=match, limit=limit)
    print_page(page, symbol_line, row=symbol_row)


def life(name: str, *, callers: bool = False, limit: Rows = 20) -> None:
    """Tell the life of a symbol: when it came, each change, when it left, whether it came back.

    Args:
        name: A name, or any tail of a qualified one; also of what is gone.
        callers: Also who called what is gone, before it went.
    """

    def row(one: model.SymbolHistory) -> dict[str, Any]:
        return {
            **plain(one), "path": one.key.path, "qualname": one.key.qualname, "kind": one.key.kind,
            "line": one.events[-1].line if one.events else 0,
        }  # fmt: skip

    with open_fresh_engine() as engine:
        page = engine.symbol_history(name, callers=callers, limit=limit)
        status = engine.history()
    print_page(page, _life_lines, row=row)
    if not status.complete:
        narrate(status.text)


def drift(*, since: str | None = None, looked: bool = False, limit: Rows = 1000) -> None:
    """Show where the index and the checkout differ, symbol by symbol; what is shown is not brought up to date.

    Args:
        since: Also what changed since this revision; `last`: since you last looked.
        looked: Remember the indexed commit as where you last looked.
    """
    with open_engine() as engine:
        if since is not None and since != "last":
            ensure_history(engine, since)
        found = engine.drift(since, looked=looked, limit=limit)
    if wants_json():
        rows = [{**plain(row), "qualname": row.symbol} for row in found.rows]
        print_json({**plain(found), "rows": rows})
    else:
        _show_drift(found)


def prune(
    *, before: str | None = None, older_than: str | None = None, everything: bool = False, dry_run: bool = False
) -> None:
    """Drop indexed history that is no longer needed; `cm history backfill` reads it from git again.

    Args:
        before: Drop what was before this revision.
        older_than: Drop what is older: 30d, 12w, 6m, 2y.
        everything (--all): Drop all of the history.
        dry_run: Say what would go; do nothing.
    """
    with open_fresh_engine() as engine:
        report = engine.prune(before=before, older_than=older_than, everything=everything, dry_run=dry_run)
    print_json(report) if wants_json() else _show_pruned(report)


def status() -> None:
    """Say how far back the history is known."""
    with open_fresh_engine() as engine:
        _show_history(engine.history())


def backfill(*, depth: Annotated[int | None, Bounds(1)] = None, since: str | None = None) -> None:
    """Read the history from git; a later call goes on where this one was stopped.

    Args:
        depth: How many commits back from HEAD.
        since: A revision or a date to go back to.
    """
    with open_fresh_engine() as engine:
        place = engine.resolve(since) if since is not None else None
        if place is not None and (place.moment.ahead or not place.exact):
            narrate(place.said)
        follow(engine.backfill(depth=depth, since=since))
        _show_history(engine.history())


def line(*, match: str = "", before: int | None = None, limit: Rows = 50) -> None:
    """List the commits of HEAD's first-parent line, newest first.

    Args:
        match: Words of subject, author, date or sha.
        before: Only commits below this ordinal.
    """
    with open_fresh_engine() as engine:
        print_page(engine.mainline(match=match, before=before, limit=limit), commit_line)


def _file_line(file: model.FileEntry) -> str:
    if file.language == "absent":
        return f"{file.path}  {file.error}"
    return f"{file.path}  {file.language}, {count(file.lines, 'line')}, {count(file.symbols, 'symbol')}"


def _life_lines(one: model.SymbolHistory) -> list[str]:
    state = "alive" if one.alive else "gone"
    head = f"{one.key.kind} {one.key.qualname}  {one.key.path}  ({state})"
    lines = [head, *(f"  {_event_line(event)}" for event in one.events), *(f"  note: {note}" for note in one.notes)]
    if one.callers_before is not None:
        lines.append(f"  called by, before it went ({one.callers_before.total:,}):")
        lines += [f"    {edge.site}:{edge.line}  {edge.qualname}  {edge.text}" for edge in one.callers_before.rows]
    return lines


def _event_line(event: model.SymbolEvent) -> str:
    way = "to" if event.what == "left" else "from"
    other = f" {way} {event.other.path} {event.other.qualname}" if event.other is not None else ""
    return f"{event.word:<11} {event.path}:{event.line}{other}  {commit_line(event.moment)}"


def _change_line(change: model.SymbolChange) -> str:
    symbol, before = change.symbol, change.before
    origin = f"  from {before.path} {before.qualname}" if change.change == "moved" and before else ""
    return f"{change.change:<9} {symbol.path}:{symbol.line}  {symbol.kind} {symbol.qualname}{origin}"


def _show_drift(found: model.Drift) -> None:
    for row in found.rows:
        write(f"{row.state:<10} {row.path}:{row.line}  {row.kind} {row.symbol}  {row.why}")
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
        narrate("`cm index` updates everything, `cm index PATH` one file")
    narrate_notes(found.notes)


def _show_pruned(report: model.PruneReport) -> None:
    would = "would drop" if report.dry_run else "dropped"
    write(
        f"{would} {count(report.commits, 'commit')}: {count(report.spans, 'span')}, {count(report.blobs, 'file version')} "
        f"({size(report.bytes)} of source), {count(report.symbols, 'symbol')}, {count(report.references, 'reference')}"
    )
    if report.note:
        narrate(report.note)


def _show_history(state: model.HistoryStatus) -> None:
    if as_json(state):
        return
    write(state.text)
    if state.blobs:
        write(f"stored only for history: {count(state.blobs, 'file version')}")
    if state.vacuumed:
        write(state.vacuumed)
    if state.running:
        narrate("history is being read")
    narrate_notes(state.notes)


vacuum = declared(hidden=True)(under_old_name("vacuum", "prune", prune))
history = Family("Show how much of the history is indexed, and index more of it.", (status, backfill, line))
