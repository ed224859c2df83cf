"""`cm import`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui.cli.options import Json, Project, open_engine
from cm_tui.counts import count

if TYPE_CHECKING:
    from cm_tui.model import ImportPlan, ImportSource, ImportSummary

_SHOWN = 8


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("import")(import_sessions)


def import_sessions(
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="AGENT", help="Only its sessions: claude-code, codex or opencode."),
    ] = None,
    folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FOLDER", help="The project lay there before: sessions of that folder are its own."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; do nothing.")] = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Record past sessions of coding agents in this project, from the transcripts that they keep on this machine."""
    from cm_tui.cli.output import follow_import, print_json
    from cm_tui.engine.api.transcripts import environment

    asked = list(dict.fromkeys(agents or []))
    # Made absolute here: the daemon stands elsewhere.
    earlier = [os.path.abspath(folder.expanduser()) for folder in folders or []]  # noqa: PTH100 - it need not be there
    with open_engine(project) as engine:
        if dry_run:
            plan = engine.imports(agents=asked, folders=earlier, environment=environment(os.environ))
            print_json({**_as_json(plan)}) if as_json else _show_plan(plan)
            return
        steps = engine.import_sessions(agents=asked, folders=earlier, environment=environment(os.environ))
        summary = follow_import(steps)
    if summary is not None:
        print_json(summary) if as_json else _show_summary(summary)


def _as_json(plan: ImportPlan) -> dict[str, object]:
    from cm_tui.cli.output import plain

    record: dict[str, object] = plain(plan)
    return {**record, "sessions": plan.sessions, "new": plan.new}


def _show_plan(plan: ImportPlan) -> None:
    from cm_tui.cli.output import narrate, write

    for source in plan.sources:
        write(_source_line(source))
        for folder in source.folders[:_SHOWN]:
            write(f"  in {folder}{'  (has gone, or was moved)' if folder in source.moved else ''}")
        if len(source.folders) > _SHOWN:
            write(f"  … and {count(len(source.folders) - _SHOWN, 'folder')} more")
    if not plan.sources:
        narrate("no session of Claude Code, Codex or OpenCode that was held in this project was found on this machine")
    if plan.others:
        narrate(
            f"{count(plan.others, 'transcript')} of other projects, or of folders that have gone: `--from FOLDER` takes those of one"
        )
    for note in plan.notes:
        narrate(f"note: {note}")
    if plan.new:
        narrate("nothing was done; `cm import` records them")


def _source_line(source: ImportSource) -> str:
    from cm_tui.model.dates import day

    when = (
        f"  {day(source.first)} to {day(source.last)}" if source.first is not None and source.last is not None else ""
    )
    size = f", {source.bytes / 1e6:,.1f} MB to read" if source.bytes else ""
    return f"{source.agent:<12} {count(source.sessions, 'session')}, {source.new:,} with something new{size}{when}"


def _show_summary(summary: ImportSummary) -> None:
    from cm_tui.cli.output import narrate

    narrate(sentence(summary))
    for what, counts in (
        ("not known, and left in the transcripts", summary.unknown),
        ("could not be read", summary.broken),
    ):
        if counts:
            most = sorted(counts.items(), key=lambda item: -item[1])
            told = ", ".join(f"{number:,} × {kind}" for kind, number in most[:_SHOWN])
            narrate(f"{what}: {told}{', …' if len(most) > _SHOWN else ''}")
    for note in summary.notes:
        narrate(f"note: {note}")


def sentence(summary: ImportSummary) -> str:
    """Return what an import did in one sentence."""
    if not summary.transcripts:
        return "nothing new since the last import"
    told = [
        f"{count(summary.episodes, 'episode')} of {count(summary.sessions, 'session')} recorded",
        f"{summary.known:,} were there already" if summary.known else "",
        f"{count(summary.waiting, 'turn')} under way" if summary.waiting else "",
        f"{count(summary.withheld, 'turn')} not to be recorded" if summary.withheld else "",
        f"{count(summary.redacted, 'secret')} taken out" if summary.redacted else "",
    ]
    return f"{', '.join(filter(None, told))}; {summary.bytes / 1e6:,.1f} MB read in {summary.seconds:.1f} s"
