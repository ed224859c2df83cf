"""`cm import`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from cm_tui.cli import import_more
from cm_tui.cli.import_report import show_plan, show_summary, unheld
from cm_tui.cli.options import Json, Project, Yes, open_engine
from cm_tui.cli.output import follow_to, plain, print_json
from cm_tui.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    pass


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("import")(import_sessions)


def import_sessions(
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="AGENT",
            help="Only its sessions: claude-code, codex, opencode, gemini, cursor or copilot.",
        ),
    ] = None,
    folders: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FOLDER", help="The project lay there before: sessions of that folder are its own."
        ),
    ] = None,
    all_projects: Annotated[
        bool, typer.Option("--all-projects", help="Into every project on this machine that there are sessions of.")
    ] = False,
    unknown: Annotated[
        bool, typer.Option("--unknown", help="Show the records that were not understood, as they were kept.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be imported; do nothing.")] = False,
    yes: Yes = False,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Record past sessions of coding agents in this project, from the transcripts that they keep on this machine."""
    from cm_tui.engine.api.transcripts import environment

    if (unknown and (all_projects or folders or agents)) or (all_projects and (folders or project)):
        raise UsageError("With --unknown goes --project; with --all-projects go --agent, --dry-run and --yes.")
    # Made absolute here: the daemon stands elsewhere.
    earlier = [os.path.abspath(folder.expanduser()) for folder in folders or []]  # noqa: PTH100 - it need not be there
    wanted = SessionFilter(list(dict.fromkeys(agents or [])), earlier, environment(os.environ))
    if unknown:
        import_more.show_unknown(project, as_json=as_json)
    elif all_projects:
        import_more.import_all(wanted.agents, wanted.environment, dry_run=dry_run, yes=yes, as_json=as_json)
    else:
        _import(wanted, project, dry_run=dry_run, yes=yes, as_json=as_json)


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


def _import(wanted: SessionFilter, project: Path | None, *, dry_run: bool, yes: bool, as_json: bool) -> None:
    given: dict[str, Any] = {**wanted._asdict()}
    with open_engine(project) as engine:
        if dry_run or wanted.folders:
            plan = engine.imports(**given)
            if dry_run:
                print_json({**plain(plan), "sessions": plan.sessions, "new": plan.new}) if as_json else show_plan(plan)
                return
            if not yes:
                _refuse_empty(plan.unheld)
        summary = follow_to(engine.import_sessions(**given), lambda step: step.imported)
    if summary is not None:
        print_json(summary) if as_json else show_summary(summary)


def _refuse_empty(folders: Sequence[str]) -> None:
    if folders:
        raise NotFoundError(
            f"Nothing was imported: {unheld(folders[0])}.",
            hint="`cm import --dry-run` names the folders that have gone; --yes takes it as it is, for sessions that turn up later.",
        )
