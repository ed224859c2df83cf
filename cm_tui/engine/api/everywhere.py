"""The memory of all projects on this machine, searched one after the other; read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cm_tui import model
from cm_tui.engine.api import projects
from cm_tui.engine.api.known_projects import known_projects
from cm_tui.errors import CmError, NotFoundError
from cm_tui.model.search import HOLDS_NONE

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine

    OpenEngine = Callable[[Path], AbstractContextManager[Engine]]


class FoundElsewhere(NamedTuple):
    """A hit, and the project that it is of."""

    project: model.KnownProject
    hit: model.Hit


@dataclass(frozen=True)
class EverywhereResult:
    """What answers a question, of any project."""

    rows: tuple[FoundElsewhere, ...] = ()
    """Best first, with ranks among all of them."""
    projects: int = 0
    """Number of searched projects."""
    notes: tuple[str, ...] = ()


def recall_everywhere(
    question: str, limit: int, where: model.EpisodeFilter | None, open_engine: OpenEngine
) -> EverywhereResult:
    """Search the memory of each project that has an index or a journal.

    Each uses its own settings and trust; a note names unreadable ones, which are skipped. Entries for all projects are
    returned once. Nothing counts as recalled. `question`: in words; `limit`: how many hits; `where`: as for `recall`;
    `open_engine`: opens the engine of a root for the search.
    """
    notes: list[str] = []
    known = [one for one in known_projects().rows if one.indexed or one.recorded]
    if gone := [one.name for one in known if not one.roots]:
        verb = "is skipped: its folder is" if len(gone) == 1 else "are skipped: their folders are"
        notes.append(f"{', '.join(gone)} {verb} no longer there.")
    known = [one for one in known if one.roots]
    best: dict[tuple[str, str, str], FoundElsewhere] = {}
    for found in (one for project in known for one in _matches_in(project, question, limit, where, open_engine, notes)):
        key = (found.hit.source, found.hit.path, found.hit.snippet)
        if key not in best or best[key].hit.score < found.hit.score:
            best[key] = found
    rows = sorted(best.values(), key=lambda one: -one.hit.score)[:limit]
    ranked = (FoundElsewhere(one.project, replace(one.hit, rank=rank)) for rank, one in enumerate(rows, start=1))
    return EverywhereResult(tuple(ranked), len(known), tuple(notes))


def _matches_in(
    project: model.KnownProject, question: str, limit: int, where: model.EpisodeFilter | None, open_engine: OpenEngine, notes: list[str]
) -> Iterator[FoundElsewhere]:  # fmt: skip
    """Yield a project's matches; a note gives the reason where it cannot be searched."""
    root = Path(project.roots[0])
    try:
        if projects.name_of(root) != project.id:
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
    # That nothing is remembered in one of many projects is no reason for a warning.
    notes.extend(f"{project.name}: {note}" for note in result.notes if not note.endswith(HOLDS_NONE))
    yield from (FoundElsewhere(project, hit) for hit in result.hits)
