"""What leaves the memory: by its age, or for good with all that was made from it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api import projects
from cm_tui.engine.api.memory import MemoryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import StoreBusyError, StoreError, UsageError

if TYPE_CHECKING:
    from cm_tui.engine.memory.erasure.erase import EventTexts


class ErasureMethods(MemoryMethods):
    """Archiving, purging and erasing episodes, and finding secrets."""

    @needs("nothing", writes=("memory",))
    def retention(self, *, apply: bool = False, older_than: float | None = None) -> model.RetentionReport:
        """Report what leaves the journal by its age, and move it to the archive if requested.

        The archive is a compressed file next to the journal, does not count towards the cap and is searched on request.
        `older_than`: days; archive everything older, except what is of high value. Raises StoreError if the journal or
        the archive cannot be written.
        """
        from cm_tui.engine.memory.episodes import retention

        report = retention.retention(self._episodes, apply=apply, older_than=older_than)
        if apply and report.archived:
            self._read_episodes(again=False)
        return report

    @needs("nothing", writes=("memory",))
    def purge(
        self, names: Sequence[str] = (), *, older_than: float | None = None, dry_run: bool = False
    ) -> model.PurgeReport:
        """Delete episodes from the archive permanently, and rebuild derived data without them.

        `names`: ids of archived episodes, or unique prefixes. `older_than`: days; also everything in the archive that
        is older. `dry_run`: only report what would be deleted. Raises NotFoundError if a name is not in the archive;
        UsageError if no name or age is given; StoreError if the archive cannot be written.
        """
        from cm_tui.engine.memory.episodes import retention
        from cm_tui.engine.memory.erasure.erase import texts_of_episodes
        from cm_tui.engine.memory.projection.ingested import origins_of

        report = retention.purge(self._episodes, names, older_than=older_than, dry_run=True)
        if not report.ids or dry_run:
            return report
        self._leave_worktrees()
        said = texts_of_episodes(map(self._episodes.one, report.ids))
        self._forget_words(said, ())
        # Before they are deleted: the rest does not name the turns of a transcript.
        self._remove_copies(said, report.ids)
        report = retention.purge(self._episodes, report.ids, older_than=None, dry_run=False)
        stays = self._drop_derived(report.ids)
        gone = frozenset(report.ids)
        if derived := [one.id for one in self._journal.read() if not origins_of(one).isdisjoint(gone)]:
            # What pipelines wrote of them is in the journal; erasing it makes the memory again, too.
            return replace(report, notes=(*self.erase(derived).notes, *stays))
        # A database keeps deleted data until it is overwritten.
        return replace(report, notes=(*self._recreate_memory(), *stays))

    def _remove_copies(self, said: EventTexts, ids: Collection[str]) -> None:
        """Remove the rescued copies of transcripts that hold episodes of the archive."""
        from cm_tui.engine.memory.importers.withheld import remove_copies
        from cm_tui.engine.memory.projection.episode_record import origin_of
        from cm_tui.engine.platform.journal.archive import Archive

        journal = self._episodes.journal
        archive = Archive(journal)
        archived = (one for number in archive.files() for _, one in archive.read(number))
        origins = {origin_of(one) for one in archived if one.id in ids}
        remove_copies(journal, {session for session, _ in said.prompts}, origins)

    @needs("nothing")
    def secrets(self) -> model.SecretsReport:
        """Return possible secrets, by the current patterns, in journal, index, logs and remembered choices.

        Raises StoreError if one of them cannot be read.
        """
        from cm_tui.engine.memory.erasure.scan import scan

        return scan(self._journal, self._db, self.store, self._entries())

    @needs("nothing", writes=("memory",))
    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> model.ErasureReport:
        """Erase events of the journal and all derived data permanently.

        An event is erased with its turn: the session's prompts, edits, stop and episode repeat it.

        Args:
            names: ids of events or episodes, or unique prefixes, or SEGMENT:OFFSET from a scan.
            found: also everything that `secrets` finds.
            with_patches: also turns of other episodes with lines of an erased one.
            dry_run: only report what would be erased.

        Raises:
            NotFoundError: a name is not in the journal.
            UsageError: a name is ambiguous, or there is nothing to erase.
            StoreBusyError: the index stays in use.
            StoreError: something cannot be written.
        """
        from cm_tui.engine.memory.erasure.erase import EraseRequest, erase_events, preview
        from cm_tui.engine.memory.erasure.scan import scan_archive

        if not names and not found:
            raise UsageError("Nothing to erase was given.", hint="Give ids, or choose all findings of the scan.")
        journal, names = self._journal, [model.plain_id(name) for name in names]
        of_archive = [one.id for one in scan_archive(journal)] if found else []
        asked = EraseRequest([*names, *of_archive], found, with_patches)
        if dry_run:
            return preview(journal, asked)
        self._leave_worktrees()
        told: list[str] = []
        return erase_events(
            journal, asked, make_again=lambda: [*self._recreate_memory(), *told], store=self.store,
            entries=self._entries(), forget_counts=lambda ids: told.extend(self._drop_derived(ids)),
            forget_words=self._forget_words,
        )  # fmt: skip

    def _forget_words(self, said: EventTexts, secrets: Collection[str] | None) -> None:
        """Drop saved output that repeats what is erased or contains one of these secrets; None: any secret."""
        from cm_tui.engine.memory.erasure import scan

        self._snapshots.remove_repeating(said.lines, said.prompts, secrets)
        scan.forget_copied_text([*said.lines, *(text for _, text in said.prompts)])

    def _drop_derived(self, ids: Collection[str]) -> list[str]:
        """Drop data derived from events outside journal and store; return messages for the user."""
        from cm_tui.engine.context.ingestion.ledger import forget

        self._recall_log.forget(ids)
        self._snapshots.remove_naming(ids)
        stays = forget(self._root, ids)
        return [f"these values changed after a pipeline wrote them and remain: {', '.join(stays)}"] if stays else []

    def _recreate_memory(self) -> list[str]:
        """Rebuild the index's part of the journal in a new file: no deleted data is left on disk."""
        from cm_tui.engine.memory.episodes import retention
        from cm_tui.engine.search.vectors import cache

        retention.drop_erased(self._episodes)
        self._episodes.index.drop()
        had_index = bool(self._db.get_meta("indexed_at"))
        kept = self._read_episodes(again=True)
        if kept:
            with self._db.transaction():
                cache.drop_unused(self._db)
                # They contain titles and words of erased episodes.
                self._mentions.clear()
        notes: list[str] = []

        def clear(store: Path) -> None:
            if kept and _rewrite_store(store):
                return
            projects.clear_store(store)
            if had_index:
                notes.append("the index could not be kept and was removed: `cm index` recreates it")

        self._recreate_store(clear)
        return notes


def _rewrite_store(store: Path) -> bool:
    """Rewrite a closed store; False where that is not possible."""
    from cm_tui.engine.platform.store.rewrite import rewrite_store
    from cm_tui.engine.search.vectors.snapshot import remove_files

    try:
        remove_files(store)
        rewrite_store(store)
    except StoreBusyError:
        raise
    except (StoreError, OSError):
        return False
    return True
