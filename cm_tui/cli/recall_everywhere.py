"""`cm recall --everywhere`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui.cli.options import open_engine
from cm_tui.counts import count

if TYPE_CHECKING:
    from cm_tui.model import EpisodeFilter


def recall_everywhere(question: str, limit: int, where: EpisodeFilter | None, *, explain: bool, as_json: bool) -> None:
    """Ask each project on this machine that has an index or a journal, and print what they remember, best first."""
    from cm_tui.cli.hits import show_remembered
    from cm_tui.cli.output import narrate, plain, print_json, write
    from cm_tui.engine.api import everywhere
    from cm_tui.model.ids import plain_id

    result = everywhere.recall_everywhere(question, limit, where, open_engine)
    if as_json:
        hits = [
            {"id": plain_id(one.hit.path), "project": one.project.id, "root": one.project.roots[0], **plain(one.hit)}
            for one in result.rows
        ]
        print_json({"query": question, "projects": result.projects, "hits": hits, "notes": result.notes})
        return
    for one in result.rows:
        write(f"{one.project.name}  ({one.project.roots[0]})", bold=one.project.name)
        show_remembered(one.hit, explain=explain)
    narrate(f"{count(len(result.rows), 'hit')} of {count(result.projects, 'project')}")
    for note in result.notes:
        narrate(f"note: {note}")
