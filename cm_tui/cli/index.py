"""`cm index`, `cm rebuild`, `cm status`, `cm skipped`."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cm_tui import model
from cm_tui.cli.options import DryRun, Force, chosen_project, open_engine, open_fresh_engine
from cm_tui.cli.output import follow, narrate, narrate_notes, print_json, print_page, wants_json, write
from cm_tui.cli.pause import recording_lines, recording_row
from cm_tui.counts import count, noun, size
from cm_tui.errors import CmError, NotFoundError, RefusedError
from cm_tui.model.dates import age

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

_LONG_SECONDS = 20.0
"""From here on a rebuild asks first."""


_is_dir = os.path.isdir
"""Unlike that of a Path it says no of a name that is too long."""


def index(
    path: Path | None = None,
    *,
    full: bool = False,
    since: str | None = None,
    dry_run: DryRun = False,
    force: Force = False,
) -> None:
    """Bring the index up to the working tree: only what changed is read again.

    Args:
        path: A project's folder, or one file to bring up to date.
        full: Parse everything again.
        since: Say what differs from this commit; what is read again is always exactly what changed.
    """
    where, single = _target(path, force=force)
    with open_engine(where, force=force) as engine:
        if dry_run:
            plan = engine.plan(full=full, since=since)
            print_json(plan) if wants_json() else _show_plan(plan)
            return
        summary = follow(engine.index(full=full, since=since, paths=single))
        if summary is None:
            return
        if single and path is not None and not os.path.lexists(path) and not summary.changed:
            raise NotFoundError(
                f"{path} is not on disk or in the index.", hint="Name a project's folder, or a file in one."
            )
        print_json(summary) if wants_json() else _show_summary(summary)


def _target(path: Path | None, *, force: bool) -> tuple[Path | None, list[str]]:
    """Return where the project is that a path is about, and the path itself unless it is a folder.

    Raises NotFoundError if nothing is there, nor was; RefusedError if it is in another project than the one that was
    named, or in none that has an index.
    """
    if path is None:
        return chosen_project(), []
    absolute = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - `..` goes before links are looked at, as in a shell
    is_folder, is_there = _is_dir(absolute), os.path.lexists(absolute)
    if not is_there and chosen_project() is None and not _is_dir(absolute.parent):
        raise NotFoundError(f"{path} does not exist.", hint="Name a project's folder, or a file in one.")
    where = chosen_project() or (absolute if is_there else absolute.parent)
    if chosen_project() is not None:
        _refuse_outside(absolute, force=force)
    elif not is_folder:
        _refuse_unindexed(absolute, where, force=force)
    return where, [] if is_folder else [str(absolute)]


def _refuse_outside(path: Path, *, force: bool) -> None:
    from cm_tui.engine.api import projects

    root = projects.locate(chosen_project(), force=force)[0]
    # The folder is resolved, the name is not: a link is a name of the project like any other.
    if not any(one.is_relative_to(root) for one in (path, Path(os.path.realpath(path.parent)) / path.name)):
        raise RefusedError(f"{path} is outside the project {root}.", hint="Name a file below the project's root.")


def _refuse_unindexed(file: Path, where: Path, *, force: bool) -> None:
    """Stop before a single file is looked at that belongs neither to the project here nor to another one with an index."""
    from cm_tui.engine.api import projects

    root, store = projects.locate(where, force=force)
    if projects.has_store(store):
        return
    try:
        here = projects.root_of(None, around=True)
    except CmError:
        return
    if here != root:
        raise RefusedError(
            f"{file} is outside the project {here}.",
            hint="Name a file below it, or index the other folder first.",
        )


def rebuild(*, yes: bool = False) -> None:
    """Rebuild the index, even a damaged one; the journal and marks are kept.

    Args:
        yes (--yes, -y): Do not ask, however long it takes.
    """
    from cm_tui.daemon.open_engine import rebuild as rebuild_project

    where = chosen_project()
    if not yes:
        _confirm_long_rebuild()
    summary = follow(rebuild_project(where, say=narrate))
    if summary is not None:
        print_json(summary) if wants_json() else narrate(_sentence(summary))


def _confirm_long_rebuild() -> None:
    """Ask before a long rebuild; without a terminal, only print the estimate."""
    from cm_tui.engine.api import projects

    plan = projects.plan_rebuild(chosen_project())
    if plan.estimated_seconds < _LONG_SECONDS:
        return
    told = f"{count(plan.files, 'file is', 'files are')} read again, which takes about {_span(plan.estimated_seconds)}."
    kept = "The journal, your marks and your settings are kept."
    if not _is_interactive():
        narrate(f"{told} {kept}")
        return
    typer.confirm(f"{told} {kept} Rebuild the index?", abort=True, err=True)


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} s"


def status() -> None:
    """Show the project and its index at a glance."""
    with open_engine() as engine:
        state = engine.status()
        fresh = engine.freshness() if state.indexed else None
        waiting = _waiting(engine) if state.indexed else None
    if wants_json():
        recording = recording_row(Path(state.root))
        print_json({**asdict(state), "proposals": waiting, "freshness": fresh, "recording": recording})
        return
    _show_status(state)
    if waiting:
        write(f"{'proposals':<9} {waiting:,} {noun(waiting, 'waits', 'wait')} for you: `cm proposals`")
    for text in recording_lines(Path(state.root)):
        write(f"{'recording':<9} {text}")
    if fresh is not None:
        _show_freshness(fresh)


def _waiting(engine: Engine) -> int | None:
    """Return how many proposals wait for a person; None where they cannot be read, which says so where they are listed."""
    from cm_tui.cli.inbox import waiting

    try:
        return waiting(engine)
    except CmError:
        return None


def skipped(*, unparsed: bool = False) -> None:
    """List skipped files and the reasons; or indexed files that were not read in full.

    Args:
        unparsed: The files that were not read in full: by lines only, or in part; with why.
    """
    with open_fresh_engine() as engine:
        if unparsed:
            rows = tuple(model.SkippedFile(file.path, file.error) for file in engine.files().rows if file.error)
            page = model.Page(rows, len(rows))
        else:
            page = engine.skipped()
    print_page(page, lambda row: f"{row.reason:<24} {row.path}")


def _show_summary(summary: model.IndexSummary) -> None:
    narrate(_sentence(summary))
    narrate_notes(summary.notes)


def _sentence(summary: model.IndexSummary) -> str:
    seconds = sum(summary.seconds.values())
    return (
        f"{count(summary.files, 'file')}, {count(summary.symbols, 'symbol')}, {count(summary.references, 'reference')}, "
        f"{count(summary.passages, 'passage')} ({count(summary.blobs, 'file')} parsed, {count(summary.embedded, 'passage')} embedded) "
        f"in {seconds:.1f} s; search: {summary.mode}"
    )


def _show_plan(plan: model.IndexPlan) -> None:
    for name, paths in (("add", plan.added), ("update", plan.modified), ("remove", plan.removed)):
        for path in paths:
            write(f"{name:<8} {path}")
    for old, new in plan.renamed:
        write(f"{'rename':<8} {old} → {new}")
    narrate(f"{count(plan.files, 'file')}, about {plan.estimated_seconds:.1f} s; dry run: nothing changed")
    narrate_notes(plan.notes)


def _show_freshness(state: model.Freshness) -> None:
    write(f"{'fresh':<9} {f'behind: {state.why}' if state.behind else 'yes'}")
    if state.ran_at and state.did:
        write(f"{'last run':<9} {state.did}, {age(time.time() - state.ran_at)}")
    for layer in state.layers:
        mode = f" ({layer.mode})" if layer.mode else ""
        fired = f", {layer.did}, {age(time.time() - layer.fired_at)}" if layer.fired_at else ""
        note = f"; {layer.note}" if layer.note else ""
        write(f"  {layer.label:<15} {layer.state}{mode}{fired}{note}")


def _show_status(state: model.ProjectStatus) -> None:
    languages = ", ".join(f"{name} {number:,}" for name, number in list(state.languages.items())[:6])
    stale = count(state.stale, "entry or note", "entries and notes")
    overwritten = f"overwritten lines of {count(state.conflicts, 'note')}"
    rows = [
        ("project", f"{state.name}  ({state.identity})"),
        ("root", state.root),
        ("store", f"{state.store}  ({size(state.disk_bytes)})"),
        ("head", f"{state.branch or '–'} {(state.head or '–')[:12]}"),
    ]
    if state.indexed:
        rows += [
            ("indexed", f"{(state.indexed_head or '–')[:12]}"),
            ("files", f"{state.files:,}{f'  ({languages})' if languages else ''}"),
            ("symbols", f"{state.symbols:,}, {count(state.references, 'reference')}"),
            ("passages", f"{state.embedded:,} of {state.passages:,} with a vector ({state.vectors})"),
            ("search", f"{state.mode}, {state.model}{' (fallback)' if state.fallback else ''}"),
            *([("stale", f"{stale} of code that is gone: `cm stale`")] if state.stale else []),
            *([("conflicts", f"{overwritten}: `cm notes conflicts` shows them")] if state.conflicts else []),
            ("skipped", f"{count(sum(state.skipped.values()), 'file')}; {state.errors:,} not read in full"),
        ]
    else:
        rows.append(("indexed", "not indexed yet; run `cm index`"))
    for name, text in rows:
        write(f"{name:<9} {text}")
    for note in state.notes:
        write(f"{'note':<9} {note}")
