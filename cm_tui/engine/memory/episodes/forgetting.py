"""Who forgot an episode, when and why: from the last such event that was not undone."""

from __future__ import annotations

import json

from cm_tui.engine.memory.entries.forgetting import forgetting_of
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.projection.visibility import FORGOTTEN
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.model import Forgetting


def forgetting(tables: EpisodeTables, journal: Journal, id_: str) -> Forgetting | None:
    """Return who forgot an episode.

    `tables`: of the store, up to the journal. Raises StoreError if the journal cannot be read.
    """
    rows = tables.rows(
        "SELECT e.edit, e.actor, c.segment, c.place FROM episode_edit e LEFT JOIN change c ON c.event = e.event "
        "WHERE e.episode = ? AND NOT e.undone ORDER BY e.event DESC",
        [id_],
    )
    for edit, actor, segment, place in rows:
        if json.loads(edit).get("forgotten") is not True:
            continue
        if segment is None:
            return Forgetting(actor, "", 0.0, "its recording was undone")
        event = next(journal.read(Position(segment, place)), None)
        told = event is not None and event.kind == FORGOTTEN
        return forgetting_of(event) if event is not None and told else Forgetting(actor, "", 0.0, "")
    return None
