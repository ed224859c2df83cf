"""What leaves the memory: by its age, or for good with all that was made from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.engine.api import projects
from cm_tui.engine.api.memory import MemoryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import StoreBusyError, StoreError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.erasure.said import Said
    from cm_tui.model import (
        ErasureReport,
        PurgeReport,
        RetentionReport,
        SecretsReport,
    )


class ErasureMethods(MemoryMethods):
    """Archiving, purging and erasing episodes, and finding secrets."""

    @needs("nothing", writes=("memory",))
    def retention(self, *, apply: bool = False, older_than: float | None = None) -> RetentionReport:
        """Say what leaves the journal by its age, and move it to the archive if wanted.

        The archive is a compressed file beside the journal, does not count towards the cap and is searched on request.

        Args:
            apply: move it.
            older_than: days; a person wants everything archived that is older, but for what is of high value.

        Raises:
            StoreError: the journal or the archive cannot be written.
        """
        from cm_tui.engine.episodes import retention

        report = retention.retention(self._episodes, apply=apply, older_than=older_than)
        if apply and report.archived:
            self._read_episodes(again=False)
        return report

    @needs("nothing", writes=("memory",))
    def purge(
        self, names: Sequence[str] = (), *, older_than: float | None = None, dry_run: bool = False
    ) -> PurgeReport:
        """Delete episodes from the archive, for good, and make what was made from them again without.

        Args:
            names: ids of archived episodes, or beginnings that no other has.
            older_than: days; also all of the archive that is older.
            dry_run: only say what would go.

        Raises:
            NotFoundError: the archive has none of that name.
            UsageError: nothing is named.
            StoreError: the archive cannot be written.
        """
        from cm_tui.engine.episodes import retention

        report = retention.purge(self._episodes, names, older_than=older_than, dry_run=True)
        if not report.ids or dry_run:
            return report
        said = self._said_by(report.ids)
        self._forget_words(said, ())
        # Before they go: what is left of them does not name the turns of a transcript.
        self._remove_copies(said, report.ids)
        report = retention.purge(self._episodes, report.ids, older_than=None, dry_run=False)
        stays = self._forget_beside(report.ids)
        if derived := self._derived_from(report.ids):
            # What pipelines wrote of them is in the journal; erasing it makes the memory again, too.
            return replace(report, notes=(*self.erase(derived).notes, *stays))
        # A database keeps what was deleted until something is written over it.
        return replace(report, notes=(*self._make_memory_again(), *stays))

    def _said_by(self, ids: Collection[str]) -> Said:
        """Return what episodes say."""
        from cm_tui.engine.erasure.said import said_by

        return said_by(self._episodes.one(id_) for id_ in ids)

    def _remove_copies(self, said: Said, ids: Collection[str]) -> None:
        """Remove the rescued copies of transcripts that hold episodes of the archive."""
        from cm_tui.engine.importers.rescue_erasure import remove_copies
        from cm_tui.engine.journal.archive import Archive
        from cm_tui.engine.memory.episode_record import origin_of

        journal = self._episodes.journal
        archive = Archive(journal)
        archived = (one for number in archive.files() for _, one in archive.read(number))
        origins = {origin_of(one) for one in archived if one.id in ids}
        remove_copies(journal, {session for session, _ in said.prompts}, origins)

    def _derived_from(self, ids: Collection[str]) -> list[str]:
        """Return the events that pipelines wrote of others."""
        from cm_tui.engine.journal.journal import Journal
        from cm_tui.engine.layers.ingested import origins_of

        return [one.id for one in Journal.of(self._root).read() if not origins_of(one).isdisjoint(ids)]

    @needs("nothing")
    def secrets(self) -> SecretsReport:
        """Return what looks like a secret, by today's patterns, in journal, index, logs and remembered choices.

        Raises:
            StoreError: one of them cannot be read.
        """
        from cm_tui.engine.entries.entries import Entries
        from cm_tui.engine.erasure.scan import scan
        from cm_tui.engine.journal.journal import Journal

        return scan(Journal.of(self._root), self._db, self.store, Entries(self._root))

    @needs("nothing", writes=("memory",))
    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> ErasureReport:
        """Erase events of the journal and all that was made from them, for good.

        An event takes its turn along: its session's prompts, edits, stop and episode say the same.

        Args:
            names: ids of events or episodes, or beginnings that no other has, or SEGMENT:OFFSET as a scan tells them.
            found: also everything that `secrets` finds.
            with_patches: also the turns of other episodes that hold lines of one that goes.
            dry_run: only say what would go.

        Raises:
            NotFoundError: the journal has no event of that name.
            UsageError: it has several, or nothing is named.
            StoreBusyError: the index stays in use.
            StoreError: something cannot be written.
        """
        from cm_tui.engine.entries.entries import Entries
        from cm_tui.engine.erasure.erase import Asked, erase_events, preview
        from cm_tui.engine.erasure.scan import scan_archive
        from cm_tui.engine.journal.journal import Journal
        from cm_tui.model.ids import plain_id

        if not names and not found:
            raise UsageError("Nothing is named to be erased.", hint="Give ids, or ask for all that the scan finds.")
        journal, names = Journal.of(self._root), [plain_id(name) for name in names]
        of_archive = [one.id for one in scan_archive(journal)] if found else []
        asked = Asked([*names, *of_archive], found, with_patches)
        if dry_run:
            return preview(journal, asked)
        told: list[str] = []
        return erase_events(
            journal, asked, make_again=lambda: [*self._make_memory_again(), *told], store=self.store,
            entries=Entries(self._root), forget_counts=lambda ids: told.extend(self._forget_beside(ids)),
            forget_words=self._forget_words,
        )  # fmt: skip

    def _forget_words(self, said: Said, secrets: Collection[str] | None) -> None:
        """Let go of what was handed over and repeats what is erased, or has one of these secrets; None: any."""
        from cm_tui.engine.assembly.snapshots import Snapshots

        Snapshots(self._root, self.config.context.snapshots).remove_repeating(said.lines, said.prompts, secrets)

    def _forget_beside(self, ids: Collection[str]) -> list[str]:
        """Let go of what was made of events outside journal and store; returns what has to be said."""
        from cm_tui.engine.assembly.snapshots import Snapshots
        from cm_tui.engine.ingestion.forgetting import forget

        self._recall_log.forget(ids)
        Snapshots(self._root, self.config.context.snapshots).remove_naming(ids)
        stays = forget(self._root, ids)
        return (
            [f"somebody changed these values since a pipeline wrote them, so they stay: {', '.join(stays)}"]
            if stays
            else []
        )

    def _make_memory_again(self) -> list[str]:
        """Make what the index holds of the journal again, in a new file: nothing that was deleted is left on disk."""
        from cm_tui.engine.episodes import retention
        from cm_tui.engine.vectors import cache

        retention.drop_erased(self._episodes)
        self._episodes.index.read_again()
        had_index = bool(self._db.get_meta("indexed_at"))
        kept = self._read_episodes(again=True)
        if kept:
            with self._db.transaction():
                cache.drop_unused(self._db)
                # They hold titles and words of what is gone.
                self._mentions.clear()
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
