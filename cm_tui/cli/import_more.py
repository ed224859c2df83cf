"""`cm import --all-projects`, `cm import --unknown`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cm_tui import model
from cm_tui.cli.import_report import looked_at, sentence
from cm_tui.cli.options import ask, chosen_project, open_engine
from cm_tui.cli.output import follow_to, narrate, narrate_notes, plain, print_json, print_page, wants_json, write
from cm_tui.counts import count
from cm_tui.errors import CmError
from cm_tui.model.dates import local_minute

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
            narrate("nothing was done; without --dry-run they are recorded")
        return
    if not yes:
        question = f"Import into {count(len(wanted), 'project')}?"
        refusal = "This needs a confirmation, and there is no terminal to ask in."
        ask(question, refusal, "Pass --yes; --dry-run lists them.")
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
        size = f", {one.bytes / 1e6:,.1f} MB to read" if one.bytes else ""
        write(
            f"{one.root}  {count(one.sessions, 'session')} of {', '.join(one.agents)}, {one.new:,} with something new{size}"
        )
    if not found.projects:
        narrate("no session of a coding agent was found that was held in a repository that is still there")
    narrate(looked_at(found.looked_at, "of these projects"))
    if found.gone:
        narrate(
            f"{count(found.gone, 'transcript')} of folders that have gone, or have no repository: `cm import --from FOLDER` in the project that lay there"
        )
    if found.never:
        narrate(f"{count(found.never, 'transcript')} of folders that are never recorded")
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
