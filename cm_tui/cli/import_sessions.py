"""`cm import`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cm_tui import model
from cm_tui.cli.options import Yes, ask, chosen_project, open_engine
from cm_tui.cli.output import (
    as_json,
    follow_to,
    narrate,
    narrate_notes,
    plain,
    print_json,
    print_page,
    wants_json,
    write,
)
from cm_tui.counts import count, size
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model.dates import day, local_minute

# --- what `cm import` would do, and what it did, in words ---

_LISTED = 8


def show_plan(plan: model.ImportPlan) -> None:
    """Print what an import would read."""
    for source in plan.sources:
        write(_source_line(source))
        for folder in source.folders[:_LISTED]:
            write(f"  in {folder}{'  (missing or moved)' if folder in source.moved else ''}")
        if len(source.folders) > _LISTED:
            write(f"  … and {count(len(source.folders) - _LISTED, 'folder')} more")
    if not plan.sources:
        narrate(f"found no session of {_agents()} in this project on this machine")
    narrate(looked_at(plan.looked_at))
    if plan.others:
        narrate(
            f"{count(plan.others, 'transcript')} from other projects or missing folders; `--from FOLDER` imports those of one folder"
        )
        for folder in plan.elsewhere[:_LISTED]:
            narrate(f"  in {folder}")
        if len(plan.elsewhere) > _LISTED:
            narrate("  … and others: --json names them")
    narrate_notes((*plan.notes, *map(unheld, plan.unheld)))
    if plan.new:
        narrate("dry run: nothing imported; `cm import` imports them")


def _source_line(source: model.ImportSource) -> str:
    when = (
        f"  {day(source.first)} to {day(source.last)}" if source.first is not None and source.last is not None else ""
    )
    left = f", {size(source.bytes)} to read" if source.bytes else ""
    return f"{source.agent:<12} {count(source.sessions, 'session')}, {source.new:,} with something new{left}{when}"


def show_summary(summary: model.ImportSummary) -> None:
    """Print what an import did."""
    narrate(sentence(summary))
    narrate(looked_at(summary.looked_at))
    for what, counts in (
        ("unknown and kept as they are (`cm import --unknown` shows them)", summary.unknown),
        ("could not be read", summary.broken),
    ):
        if counts:
            most = sorted(counts.items(), key=lambda item: -item[1])
            told = ", ".join(f"{number:,} × {kind}" for kind, number in most[:_LISTED])
            narrate(f"{what}: {told}{', …' if len(most) > _LISTED else ''}")
    narrate_notes(summary.notes)


def sentence(summary: model.ImportSummary) -> str:
    """Return what an import did in one sentence."""
    if not summary.transcripts:
        return "nothing new since the last import"
    told = [
        f"{count(summary.episodes, 'episode')} of {count(summary.sessions, 'session')} recorded",
        f"{summary.unanswered:,} of them unanswered" if summary.unanswered else "",
        f"{summary.known:,} already imported" if summary.known else "",
        f"{count(summary.waiting, 'turn')} under way" if summary.waiting else "",
        f"{count(summary.withheld, 'turn')} excluded from recording" if summary.withheld else "",
        f"{count(summary.redacted, 'secret')} redacted" if summary.redacted else "",
    ]
    return f"{', '.join(filter(None, told))}; {size(summary.bytes)} read in {summary.seconds:.1f} s"


def looked_at(counts: model.TranscriptCounts, here: str = "of this project") -> str:
    """Say how many transcripts were looked at, and what became of those that were not taken."""
    parts = [
        f"{counts.here:,} {here}",
        f"{counts.others:,} from other projects or missing folders" if counts.others else "",
        f"{counts.silent:,} without a session" if counts.silent else "",
        f"{counts.unread:,} could not be read (see the notes)" if counts.unread else "",
    ]
    return f"{count(counts.total, 'transcript')} looked at: {', '.join(filter(None, parts))}"


def unheld(folder: str) -> str:
    """Say that nothing was held in a folder that a person named."""
    there = "" if os.path.isdir(folder) else ", and that folder does not exist"  # noqa: PTH112 - a name may be too long
    return f"no session of {_agents()} took place in {folder}{there}"


def _agents() -> str:
    *others, last = model.AGENT_TITLES.values()
    return f"{', '.join(others)} or {last}"


# --- `cm import --all-projects`, `cm import --unknown` ---

_SHOWN = 300
"""Characters of a record in a list."""


def import_all(agents: Sequence[str], environment: dict[str, str], *, dry_run: bool, yes: bool) -> None:
    """List the projects that there are sessions of, ask, and import into each; one that fails leaves the others.

    Raises RefusedError: no terminal to ask in; CmError: the first reason why a project could not be imported into, once
    the others are.
    """
    from cm_tui.engine.api.past_sessions import all_projects

    found = all_projects(agents, environment)
    wanted = [one for one in found.projects if one.new]
    if not wants_json():
        _show(found)
    if dry_run or not wanted:
        if wants_json():
            print_json({"plan": found, "imported": []})
        elif wanted:
            narrate("dry run: nothing imported; run it without --dry-run to import them")
        return
    if not yes:
        ask(f"Import into {count(len(wanted), 'project')}?", "Pass --yes; --dry-run lists them.")
    done, failed = _into_each(wanted, {"agents": list(agents), "environment": environment}, found.notes)
    if wants_json():
        print_json({"plan": found, "imported": done})
    if failed is not None:
        raise failed


def _into_each(
    wanted: Sequence[model.ProjectSessions], given: dict[str, Any], shown: Sequence[str]
) -> tuple[list[dict[str, Any]], CmError | None]:
    done: list[dict[str, Any]] = []
    failed: CmError | None = None
    for one in wanted:
        try:
            with open_engine(Path(one.root)) as engine:
                summary = follow_to(engine.import_sessions(**given), lambda step: step.imported)
        except CmError as error:
            failed = failed or error
            narrate(f"{one.root}: {error}")
            done.append({"root": one.root, "error": str(error)})
            continue
        if summary is not None:
            narrate(f"{one.root}: {sentence(summary)}")
            for note in summary.notes:
                if note not in shown:
                    narrate(f"note: {note}")
            done.append({"root": one.root, **plain(summary)})
    return done, failed


def _show(found: model.AllImports) -> None:
    for one in found.projects:
        left = f", {size(one.bytes)} to read" if one.bytes else ""
        write(
            f"{one.root}  {count(one.sessions, 'session')} of {', '.join(one.agents)}, {one.new:,} with something new{left}"
        )
    if not found.projects:
        narrate("found no session of a coding agent in an existing repository")
    narrate(looked_at(found.looked_at, "of these projects"))
    if found.gone:
        narrate(
            f"{count(found.gone, 'transcript')} from folders that are missing or have no repository; run `cm import --from FOLDER` in the project that was there"
        )
    if found.never:
        narrate(f"{count(found.never, 'transcript')} from folders that are never recorded")
    narrate_notes(found.notes)


def show_unknown() -> None:
    """Show the records that were not understood.

    `project`: a folder of the project; None: the current one. `as_json`: as JSON, all of each. Raises CmError if there
    is no project here, or its journal cannot be read.
    """
    from cm_tui.engine.api import projects
    from cm_tui.engine.api.past_sessions import unknown_records

    asked = chosen_project()
    print_page(unknown_records(projects.locate(asked, around=asked is None)[0]), _lines)


def _lines(one: model.UnknownRecord) -> list[str]:
    when = local_minute(one.time) if one.time is not None else "(no time)"
    more = len(one.raw) + one.cut - _SHOWN
    rest = f" … {more:,} characters more: --json" if more > 0 else ""
    cut = f", cut by {one.cut:,} characters" if one.cut else ""
    return [f"{one.id}  {when}  {one.agent} {one.session}  {one.kind}{cut}", f"  {one.raw[:_SHOWN]}{rest}"]


# --- `cm import` ---


def import_(
    *,
    agents: list[str] | None = None,
    folders: list[Path] | None = None,
    all_projects: bool = False,
    unknown: bool = False,
    dry_run: bool = False,
    yes: Yes = False,
) -> None:
    """Record past sessions of coding agents in this project, from the transcripts that they keep on this machine.

    Args:
        agents (--agent AGENT): Only its sessions: claude-code, codex, opencode, gemini, cursor or copilot.
        folders (--from FOLDER): The project lay there before: sessions of that folder are its own.
        all_projects: Into every project on this machine that there are sessions of.
        unknown: Show the records that were not understood, as they were kept.
        dry_run: Say what would be imported; do nothing.
    """
    from cm_tui.engine.api.transcripts import environment

    if (unknown and (all_projects or folders or agents)) or (all_projects and (folders or chosen_project())):
        raise UsageError("--unknown accepts only --project; --all-projects accepts only --agent, --dry-run and --yes.")
    # Made absolute here: the daemon stands elsewhere.
    earlier = [os.path.abspath(folder.expanduser()) for folder in folders or []]  # noqa: PTH100 - it need not be there
    wanted, where = list(dict.fromkeys(agents or [])), environment(os.environ)
    if unknown:
        show_unknown()
    elif all_projects:
        import_all(wanted, where, dry_run=dry_run, yes=yes)
    else:
        _import({"agents": wanted, "folders": earlier, "environment": where}, dry_run=dry_run, yes=yes)


def _import(wanted: dict[str, Any], *, dry_run: bool, yes: bool) -> None:
    with open_engine() as engine:
        if dry_run or wanted["folders"]:
            plan = engine.imports(**wanted)
            if dry_run:
                if not as_json({**plain(plan), "sessions": plan.sessions, "new": plan.new}):
                    show_plan(plan)
                return
            if not yes:
                _refuse_empty(plan.unheld)
        summary = follow_to(engine.import_sessions(**wanted), lambda step: step.imported)
    if summary is not None:
        print_json(summary) if wants_json() else show_summary(summary)


def _refuse_empty(folders: Sequence[str]) -> None:
    if folders:
        raise NotFoundError(
            f"Nothing was imported: {unheld(folders[0])}.",
            hint="`cm import --dry-run` lists the missing folders; --yes uses the path as given, for sessions that appear later.",
        )
