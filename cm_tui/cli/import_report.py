"""What `cm import` would do, and what it did, in words."""

from __future__ import annotations

import os

from cm_tui import model
from cm_tui.cli.output import narrate, narrate_notes, write
from cm_tui.counts import count
from cm_tui.model.dates import day

_SHOWN = 8


def show_plan(plan: model.ImportPlan) -> None:
    """Print what an import would read."""
    for source in plan.sources:
        write(_source_line(source))
        for folder in source.folders[:_SHOWN]:
            write(f"  in {folder}{'  (has gone, or was moved)' if folder in source.moved else ''}")
        if len(source.folders) > _SHOWN:
            write(f"  … and {count(len(source.folders) - _SHOWN, 'folder')} more")
    if not plan.sources:
        narrate(f"no session of {_agents()} that was held in this project was found on this machine")
    narrate(looked_at(plan.looked_at))
    if plan.others:
        narrate(
            f"{count(plan.others, 'transcript')} of other projects, or of folders that have gone: `--from FOLDER` takes those of one"
        )
        for folder in plan.elsewhere[:_SHOWN]:
            narrate(f"  in {folder}")
        if len(plan.elsewhere) > _SHOWN:
            narrate("  … and others: --json names them")
    narrate_notes((*plan.notes, *map(unheld, plan.unheld)))
    if plan.new:
        narrate("nothing was done; `cm import` records them")


def _source_line(source: model.ImportSource) -> str:
    when = (
        f"  {day(source.first)} to {day(source.last)}" if source.first is not None and source.last is not None else ""
    )
    size = f", {source.bytes / 1e6:,.1f} MB to read" if source.bytes else ""
    return f"{source.agent:<12} {count(source.sessions, 'session')}, {source.new:,} with something new{size}{when}"


def show_summary(summary: model.ImportSummary) -> None:
    """Print what an import did."""
    narrate(sentence(summary))
    narrate(looked_at(summary.looked_at))
    for what, counts in (
        ("not known, and kept as they are (`cm import --unknown` shows them)", summary.unknown),
        ("could not be read", summary.broken),
    ):
        if counts:
            most = sorted(counts.items(), key=lambda item: -item[1])
            told = ", ".join(f"{number:,} × {kind}" for kind, number in most[:_SHOWN])
            narrate(f"{what}: {told}{', …' if len(most) > _SHOWN else ''}")
    narrate_notes(summary.notes)


def sentence(summary: model.ImportSummary) -> str:
    """Return what an import did in one sentence."""
    if not summary.transcripts:
        return "nothing new since the last import"
    told = [
        f"{count(summary.episodes, 'episode')} of {count(summary.sessions, 'session')} recorded",
        f"{summary.unanswered:,} of them without an answer" if summary.unanswered else "",
        f"{summary.known:,} were there already" if summary.known else "",
        f"{count(summary.waiting, 'turn')} under way" if summary.waiting else "",
        f"{count(summary.withheld, 'turn')} not to be recorded" if summary.withheld else "",
        f"{count(summary.redacted, 'secret')} redacted" if summary.redacted else "",
    ]
    return f"{', '.join(filter(None, told))}; {summary.bytes / 1e6:,.1f} MB read in {summary.seconds:.1f} s"


def looked_at(counts: model.TranscriptCounts, here: str = "of this project") -> str:
    """Say how many transcripts were looked at, and what became of those that were not taken."""
    parts = [
        f"{counts.here:,} {here}",
        f"{counts.others:,} of other projects or of folders that have gone" if counts.others else "",
        f"{counts.silent:,} without a session" if counts.silent else "",
        f"{counts.unread:,} could not be read (see the notes)" if counts.unread else "",
    ]
    return f"{count(counts.total, 'transcript')} looked at: {', '.join(filter(None, parts))}"


def unheld(folder: str) -> str:
    """Say that nothing was held in a folder that a person named."""
    there = "" if os.path.isdir(folder) else ", and there is no such folder"  # noqa: PTH112 - a name may be too long
    return f"no session of {_agents()} was held in {folder}{there}"


def _agents() -> str:
    *others, last = model.AGENT_TITLES.values()
    return f"{', '.join(others)} or {last}"
