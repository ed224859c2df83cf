"""`cm import`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cm_tui.cli import import_more
from cm_tui.cli.import_report import show_plan, show_summary, unheld
from cm_tui.cli.options import Yes, chosen_project, open_engine
from cm_tui.cli.output import follow_to, plain, print_json, wants_json
from cm_tui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    pass


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
        raise UsageError("With --unknown goes --project; with --all-projects go --agent, --dry-run and --yes.")
    # Made absolute here: the daemon stands elsewhere.
    earlier = [os.path.abspath(folder.expanduser()) for folder in folders or []]  # noqa: PTH100 - it need not be there
    wanted = SessionFilter(list(dict.fromkeys(agents or [])), earlier, environment(os.environ))
    if unknown:
        import_more.show_unknown()
    elif all_projects:
        import_more.import_all(wanted.agents, wanted.environment, dry_run=dry_run, yes=yes)
    else:
        _import(wanted, dry_run=dry_run, yes=yes)


class SessionFilter(NamedTuple):
    """Which sessions a person wants.

    Attributes:
        agents: only theirs; none: all.
        folders: where the project lay before.
        environment: where transcripts lie.
    """

    agents: list[str]
    folders: list[str]
    environment: dict[str, str]


def _import(wanted: SessionFilter, *, dry_run: bool, yes: bool) -> None:
    given: dict[str, Any] = {**wanted._asdict()}
    with open_engine() as engine:
        if dry_run or wanted.folders:
            plan = engine.imports(**given)
            if dry_run:
                print_json({**plain(plan), "sessions": plan.sessions, "new": plan.new}) if wants_json() else show_plan(
                    plan
                )
                return
            if not yes:
                _refuse_empty(plan.unheld)
        summary = follow_to(engine.import_sessions(**given), lambda step: step.imported)
    if summary is not None:
        print_json(summary) if wants_json() else show_summary(summary)


def _refuse_empty(folders: Sequence[str]) -> None:
    if folders:
        raise NotFoundError(
            f"Nothing was imported: {unheld(folders[0])}.",
            hint="`cm import --dry-run` names the folders that have gone; --yes takes it as it is, for sessions that turn up later.",
        )
