"""`cm episodes retention`, `cm episodes purge`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.options import Yes, ask, open_engine
from cm_tui.cli.output import as_json, narrate, narrate_notes, wants_json, write
from cm_tui.counts import count, noun
from cm_tui.errors import UsageError
from cm_tui.model.dates import day, length


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
