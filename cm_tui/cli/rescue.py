"""`cm rescue`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from cm_tui import model
from cm_tui.cli.options import DryRun, Yes, ask, chosen_project
from cm_tui.cli.output import follow_to, narrate, narrate_notes, print_json, wants_json, write, write_text
from cm_tui.counts import count, noun, size
from cm_tui.errors import NotFoundError, RefusedError, UsageError

if TYPE_CHECKING:
    from cm_tui.integrations.agents.agent_files import Change

DAYS = 3_650
"""What `--keep-longer` sets unless `--days` says otherwise: ten years."""


def rescue(
    *,
    keep_longer: bool = False,
    days: Annotated[
        int | None,
        typer.Option("--days", min=1, max=99999, help=f"With --keep-longer: for how many days; default: {DAYS:,}."),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Keep private copies of the transcripts of coding agents before the agents delete them, of all projects.

    Claude Code and Gemini CLI delete a transcript 30 days after its last change. `cm import` reads the copy where the original is gone.

    Args:
        keep_longer: Instead: have Claude Code keep its transcripts longer; shows the change.
    """
    if days is not None and not keep_longer:
        raise UsageError("--days requires --keep-longer.")
    if keep_longer:
        if chosen_project() is not None:
            raise UsageError("--keep-longer applies to all projects and cannot be combined with --project.")
        _keep_longer(DAYS if days is None else days, dry_run=dry_run, yes=yes)
        return
    _rescue(dry_run=dry_run, yes=yes)


def _rescue(*, dry_run: bool, yes: bool) -> None:
    from cm_tui.engine.api import projects
    from cm_tui.engine.api.rescue import refused, rescue_plan
    from cm_tui.engine.api.rescue import rescue as steps
    from cm_tui.engine.api.transcripts import environment

    where, asked = environment(os.environ), chosen_project()
    root = None if asked is None else projects.root_of(asked)
    plan = rescue_plan(where, root)
    if not wants_json():
        _show(plan)
    has_files = any(source.files for source in plan.sources)
    if dry_run or not has_files:
        withheld = refused(where, root) if has_files else {}
        if wants_json():
            print_json({"plan": plan, "rescued": None, "withheld": withheld})
        elif has_files:
            _show_withheld(withheld)
            narrate("dry run: nothing copied; run it without --dry-run to copy them")
        return
    if not yes:
        ask(f"Keep private copies of them in {plan.folder}?", "Add --yes.")
    summary = follow_to(steps(where, root, model.Cancel()), lambda step: step.rescued)
    if wants_json():
        print_json({"plan": plan, "rescued": summary})
    elif summary is not None:
        _show_summary(summary)


def _show(plan: model.RescuePlan) -> None:
    for source in plan.sources:
        write(_line(source))
    if not any(source.files for source in plan.sources):
        narrate("found no transcripts of coding agents on this machine")
        return
    total = sum(source.sessions for source in plan.sources)
    expiring = sum(source.expiring for source in plan.sources)
    without = f", {plan.unsaved:,} of them without a copy" if expiring and plan.unsaved != expiring else ""
    narrate(f"{count(total, 'session')}, {expiring:,} {noun(expiring, 'is', 'are')} deleted within 5 days{without}")


def _line(source: model.RescueSource) -> str:
    title = model.AGENT_TITLES[source.agent]
    if not source.files:
        return f"{title:<12} not deleted by the agent, not copied: its sessions are in a database"
    when = "not deleted by the agent"
    if source.days is not None:
        when = f"deleted after {count(source.days, 'day')} without a change: {source.expiring:,} within 5 days"
    new = f"{count(source.new, 'file')} to copy, {size(source.new_bytes)}" if source.new else "copied"
    return f"{title:<12} {count(source.sessions, 'session')}, {when}; {new}"


def _show_summary(summary: model.RescueSummary) -> None:
    sizes = f"{size(summary.bytes)}, {size(summary.stored)} compressed"
    narrate(
        f"{count(summary.copied, 'transcript')} copied ({sizes}) in {summary.seconds:.1f} s; "
        f"{summary.kept:,} {noun(summary.kept, 'was', 'were')} copied before"
    )
    if summary.prompts:
        narrate(f"copied the prompts of {count(summary.prompts, 'session')} whose transcripts are already deleted")
    _show_withheld(summary.withheld)
    narrate_notes(summary.notes)
    narrate(f"the copies are in {summary.folder}; `cm import --all-projects` records what is in them")


def _show_withheld(withheld: Mapping[str, int]) -> None:
    for reason, number in withheld.items():
        narrate(f"not copied: {count(number, 'transcript')}: {reason}")


# --- the setting of Claude Code ---


def _keep_longer(days: int, *, dry_run: bool, yes: bool) -> None:
    from cm_tui.integrations.agents import installer

    changes = _changes(days)
    wanted = [change for change in changes if change.done != "unchanged"]
    if not wants_json():
        write_text("".join(change.diff for change in wanted).rstrip("\n"))
    if wanted and not dry_run:
        if not yes:
            ask(f"Have Claude Code keep its transcripts for {count(days, 'day')}?", "Add --yes.")
        for change in wanted:
            installer.apply_setting(change)
    if wants_json():
        rows = [{"path": str(one.path), "done": one.done, "diff": one.diff} for one in changes]
        print_json({"days": days, "dry_run": dry_run, "files": rows})
        return
    for change in changes:
        narrate(f"{change.would:<12} {change.path}" if dry_run else f"{change.done:<9} {change.path}")


def _changes(days: int) -> list[Change]:
    """Return the changes of the settings of Claude Code, in each folder that it has."""
    from cm_tui.engine.api.transcripts import CLEANUP_SETTING, claude_homes
    from cm_tui.integrations.agents import installer

    def is_enough(value: object) -> bool:
        if value == 0:
            raise RefusedError(
                f"{CLEANUP_SETTING} is 0, with which Claude Code keeps no transcripts.",
                hint="Remove the setting first if they are to be kept.",
            )
        return isinstance(value, int | float) and value >= days

    homes = [home for home in claude_homes(os.environ) if home.is_dir()]
    if not homes:
        raise NotFoundError(
            "Claude Code has no folder on this machine.", hint="Set CLAUDE_CONFIG_DIR if it is elsewhere."
        )
    return [installer.plan_setting(home / "settings.json", CLEANUP_SETTING, days, is_enough) for home in homes]
