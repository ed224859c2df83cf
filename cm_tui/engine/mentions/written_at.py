"""The commits at which entries and episodes were written, as far as they say so themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from cm_tui.engine.entries.entries import Entries
from cm_tui.engine.memory import entry_source, episode_source
from cm_tui.engine.store.database import Database
from cm_tui.errors import CmError
from cm_tui.model import ENTRIES, EPISODES


class WrittenCommits:
    """Commits of what is remembered in one project, by the path of its passages.

    Args:
        db: the store, which knows the episodes.
        root: whose entries they are.
    """

    def __init__(self, db: Database, root: Path) -> None:
        self._db = db
        self._root = root

    def of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the sha that each was written at; what says none is left out."""
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
        # One that was changed since is as true as when that was: its time says when.
        return {entry_source.path_of(one.id): one.commit for one in entries if one.commit and not one.changed_by}
