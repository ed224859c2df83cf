"""`cm ingest`: pipelines that write into the memory, run by hand and looked at."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cm_tui import model
from cm_tui.cli.declare import Bounds, Family, declared
from cm_tui.cli.options import Limit, open_engine, values_of
from cm_tui.cli.output import as_json, narrate, print_json, wants_json, write
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model.dates import local_minute
from cm_tui.model.text import one_line

_LISTED = 50
_LOOK_S = 1.0
_MOST_BYTES = 8_000_000


def alone() -> None:
    """What pipelines write into the memory: run by hand, followed, run again; without a command runs are listed."""
    list_()


def run(pipeline: str, source: str = "-", values: list[str] | None = None) -> None:
    """Run a pipeline over a text now; what it had before is not ingested again.

    Args:
        pipeline: A pipeline: `cm context definitions` lists them.
        source: A file, or - for standard input.
        values: key=value, as its templates name them.
    """
    given = values_of(values or ())
    text = _read(source)
    if source != "-":
        given.setdefault("path", source)
    with open_engine() as engine:
        _end(engine.ingest(pipeline, text, values=given))


def pending() -> None:
    """Run the pipelines over what has happened since they ran last; the daemon does so by itself."""
    with open_engine() as engine:
        found = engine.ingest_pending()
    if as_json({"rows": found, "total": len(found)}):
        return
    for one in found:
        _print_result(one)
    if not found:
        narrate("No events for any pipeline.")


def list_(*, pipeline: str = "", failed: bool = False, limit: Limit = _LISTED) -> None:
    """List runs, the newest first.

    Args:
        pipeline: Only those of this one.
        failed: Only those that failed.
    """
    outcome: model.IngestOutcome | None = "failed" if failed else None
    with open_engine() as engine:
        found = engine.ingest_runs(pipeline=pipeline, outcome=outcome, limit=limit or _LISTED)
    if as_json({"rows": found.rows, "total": found.total}):
        return
    for one in found.rows:
        _print_result(one)
    if not found.rows:
        narrate("No pipeline has run yet; `cm context new ingestion NAME` creates one.")
    elif found.total > len(found.rows):
        narrate(f"{len(found.rows):,} of {found.total:,}; --limit shows more")


def again(run: str) -> None:
    """Run what failed again from the step that failed, with the input that was kept.

    Args:
        run: Its id, or a beginning of it: `cm ingest list`.
    """
    with open_engine() as engine:
        _end(engine.ingest_again(run))


@declared(lacks="as_json")
def tail(*, lines: Annotated[int, Bounds(0)] = 10) -> None:
    """Follow the runs of pipelines as they happen, until Ctrl+C.

    Args:
        lines (--lines, -n): Runs that are shown first.
    """
    with open_engine() as engine:
        found = engine.ingest_runs(limit=1_000).rows
        shown = {(one.id, one.attempts) for one in found}
        for one in reversed(found[:lines]):
            _print_result(one)
        narrate("Waiting for runs; press Ctrl+C to stop.")
        try:
            while True:
                time.sleep(_LOOK_S)
                for one in reversed(engine.ingest_runs(limit=100).rows):
                    if (one.id, one.attempts) not in shown:
                        shown.add((one.id, one.attempts))
                        _print_result(one)
        except KeyboardInterrupt:
            return


def _end(found: model.IngestRun) -> None:
    """Print a run; exit with 1 when it failed."""
    print_json(found) if wants_json() else _print_result(found)
    if found.outcome == "failed":
        raise typer.Exit(1)


def _print_result(one: model.IngestRun) -> None:
    into = ", ".join(f"{row.destination} ×{row.items}" for row in one.written)
    when = local_minute(one.time)
    write(one_line(f"{one.id}  {when}  {one.outcome:<7}  {one.pipeline}  {one.trigger}  {into}".rstrip()))
    write(one_line(f"    {one.input}"))
    if one.failed_step:
        write(one_line(f"    {one.failed_step}: {one.error}"))


def _read(source: str) -> str:
    import sys

    from cm_tui.files import read_bounded

    try:
        data = sys.stdin.buffer.read(_MOST_BYTES + 1) if source == "-" else read_bounded(Path(source), _MOST_BYTES)
    except FileNotFoundError as error:
        raise NotFoundError(f"File not found: {source}.") from error
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror or error}.") from error
    if len(data) > _MOST_BYTES:
        raise UsageError(f"The input has more than {_MOST_BYTES:,} bytes.", hint="Ingest it in parts.")
    if not data.strip():
        raise UsageError("Nothing to ingest.", hint="Give a file, or text on standard input.")
    return data.decode("utf-8", "replace")


ingest = Family("", (run, list_, tail, again, pending), alone=alone)
