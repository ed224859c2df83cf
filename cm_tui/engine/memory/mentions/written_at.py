"""Known commits at which entries and episodes were written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.projection import entry_source, episode_source
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import ENTRIES, EPISODES


class WrittenCommits:
    """Commits of one project's memories, by the path of their passages.

    `db`: the store with the episodes; `root`: of the entries' project.
    """

    def __init__(self, db: Database, root: Path) -> None:
        self._db = db
        self._root = root

    def of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the sha at which each was written; those without one are omitted."""
        wanted = set(paths)
        found: dict[str, str] = {}
        if any(path.startswith(f"{ENTRIES}/") for path in wanted):
            found |= self._of_entries()
        if any(path.startswith(f"{EPISODES}/") for path in wanted):
            rows = self._db.rows("SELECT id, sha FROM episode WHERE sha <> ''")
            found |= {episode_source.path_of(id_): sha for id_, sha in rows}
        return {path: sha for path, sha in found.items() if path in wanted}

    def _of_entries(self) -> dict[str, str]:
        try:
            entries = Entries(self._root).all().entries
        except CmError:
            return {}
        # A changed entry is as recent as its change: use that time.
        return {entry_source.path_of(one.id): one.commit for one in entries if one.commit and not one.changed_by}
