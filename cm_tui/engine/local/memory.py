"""The memory, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cm_tui.engine.api import projects
from cm_tui.engine.local.index import LocalIndex
from cm_tui.errors import StoreBusyError, StoreError, UsageError
from cm_tui.model import Episode, ErasureReport, Page, SecretsReport


class LocalMemory(LocalIndex):
    """Episodes of agents' sessions, and how they are erased."""

    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """Return what agents' sessions recorded, newest first, without patches."""
        return self._episodes.page(match, before, limit)

    def episode(self, name: str) -> Episode:
        """Return one of them, whole."""
        return self._episodes.one(name)

    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw."""
        return self._episodes.ordinals()

    def secrets(self) -> SecretsReport:
        """Return what looks like a secret in journal, index, logs and remembered choices."""
        from cm_tui.engine import erasure
        from cm_tui.engine.journal import Journal

        return erasure.scan(Journal.of(self._root), self._db, self.store)

    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> ErasureReport:
        """Erase events of the journal and all that was made from them."""
        from cm_tui.engine import erasure
        from cm_tui.engine.journal import Journal

        if not names and not found:
            raise UsageError("Nothing is named to be erased.", hint="Give ids, or ask for all that the scan finds.")
        journal = Journal.of(self._root)
        asked = erasure.Asked(names, found, with_patches)
        if dry_run:
            return erasure.preview(journal, asked)
        return erasure.erase_events(journal, asked, make_again=self._make_memory_again, store=self.store)

    def forget(self, name: str, *, undo: bool = False) -> str:
        """Hide an episode, or show it again."""
        from cm_tui.engine.journal import Journal
        from cm_tui.engine.memory.visibility import FORGOTTEN, RESTORED

        id_ = self._episodes.named(name, forgotten=undo)
        Journal.of(self._root).append(RESTORED if undo else FORGOTTEN, {"ids": [id_]})
        self._read_episodes(again=False)
        return id_

    def _read_episodes(self, *, again: bool) -> bool:
        """Bring the passages of episodes up to the journal; False where the index is to be made again as a whole."""
        from cm_tui.engine.memory import episode_sync

        return episode_sync.sync(self._db, self._root, self._read_text, again=again)

    def _make_memory_again(self) -> list[str]:
        """Make what the index holds of the journal again, in a new file: nothing that was deleted is left on disk."""
        from cm_tui.engine.vectors import cache

        had_index = bool(self._db.get_meta("indexed_at"))
        kept = self._read_episodes(again=True)
        if kept:
            with self._db.transaction():
                cache.drop_unused(self._db)
        notes: list[str] = []

        def anew(store: Path) -> None:
            if kept and _written_anew(store):
                return
            projects.clear_store(store)
            if had_index:
                notes.append("the index could not be kept and was removed: `cm index` makes it again")

        self._begin_anew(anew)
        return notes


def _written_anew(store: Path) -> bool:
    """Write a closed store anew; False where that is not possible."""
    from cm_tui.engine.store.rewrite import write_anew
    from cm_tui.engine.vectors.snapshot import remove_files

    try:
        remove_files(store)
        write_anew(store)
    except StoreBusyError:
        raise
    except (StoreError, OSError):
        return False
    return True
