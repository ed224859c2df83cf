"""`cm recall --everywhere`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cm_tui.cli.options import open_engine
from cm_tui.counts import count
from cm_tui.engine.api import projects
from cm_tui.errors import CmError, NotFoundError

if TYPE_CHECKING:
    from cm_tui.model import EpisodeFilter, Hit, KnownProject


class _Found(NamedTuple):
    project: KnownProject
    hit: Hit


def recall_everywhere(question: str, limit: int, where: EpisodeFilter | None, *, explain: bool, as_json: bool) -> None:
    """Ask each project on this machine that has an index or a journal, and print what they remember, best first.

    Each answers by its own settings and trust; one that cannot be read is named and skipped. What is for all projects of
    the user is printed once. Nothing of it counts as recalled.
    """
    from cm_tui.cli.hits import show_remembered
    from cm_tui.cli.output import narrate, plain, print_json, write
    from cm_tui.engine.api.known_projects import known_projects
    from cm_tui.model.ids import plain_id

    notes: list[str] = []
    known = [one for one in known_projects().rows if one.indexed or one.recorded]
    best: dict[tuple[str, str, str], _Found] = {}
    for found in (one for project in known for one in _asked(project, question, limit, where, notes)):
        key = (found.hit.source, found.hit.path, found.hit.snippet)
        if key not in best or best[key].hit.score < found.hit.score:
            best[key] = found
    rows = sorted(best.values(), key=lambda one: -one.hit.score)[:limit]
    rows = [_Found(one.project, replace(one.hit, rank=rank)) for rank, one in enumerate(rows, start=1)]
    if as_json:
        hits = [
            {"id": plain_id(one.hit.path), "project": one.project.id, "root": one.project.roots[0], **plain(one.hit)}
            for one in rows
        ]
        print_json({"query": question, "projects": len(known), "hits": hits, "notes": notes})
        return
    for one in rows:
        write(f"{one.project.name}  ({one.project.roots[0]})", bold=one.project.name)
        show_remembered(one.hit, explain=explain)
    narrate(f"{count(len(rows), 'hit')} of {count(len(known), 'project')}")
    for note in notes:
        narrate(f"note: {note}")


def _asked(
    project: KnownProject, question: str, limit: int, where: EpisodeFilter | None, notes: list[str]
) -> Iterator[_Found]:
    """Yield what a project remembers; a note gives the reason where one cannot be asked."""
    if not project.roots:
        notes.append(f"{project.name} is skipped: its folder is no longer there.")
        return
    root = Path(project.roots[0])
    try:
        if projects.locate(root)[1].name != project.id:
            notes.append(f"{project.name} is skipped: another project is in {root} now.")
            return
        with open_engine(root) as engine:
            result = engine.recall(question, limit=limit, where=where)
    except NotFoundError:
        # A session that is named is one project's.
        if where is None or not where.session:
            notes.append(f"{project.name} is skipped: {root} is no longer there.")
        return
    except CmError as error:
        notes.append(f"{project.name} is skipped: {error.message}")
        return
    notes.extend(f"{project.name}: {note}" for note in result.notes)
    yield from (_Found(project, hit) for hit in result.hits)
