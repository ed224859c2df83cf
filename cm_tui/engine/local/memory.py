"""The memory, in this process."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cm_tui.engine.api import projects
from cm_tui.engine.local.index import LocalIndex
from cm_tui.engine.local.rooms import of_one_generation
from cm_tui.errors import CmError, StoreBusyError, StoreError, UsageError
from cm_tui.model import (
    RECALL,
    Actor,
    Edited,
    Episode,
    EpisodeEdit,
    EpisodeFilter,
    EpisodeStats,
    EpisodeType,
    ErasureReport,
    Outcome,
    Page,
    PurgeReport,
    RetentionReport,
    SearchResult,
    SecretsReport,
    Session,
    Undone,
    WorkState,
)
from cm_tui.model.ids import plain_id

if TYPE_CHECKING:
    from cm_tui.engine.erasure.said import Said


class LocalMemory(LocalIndex):
    """Episodes of agents' sessions, and how they are erased."""

    def episodes(
        self, *, match: str = "", where: EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> Page[Episode]:
        """Return what was recorded, newest first, without patches."""
        return self._episodes.page(match, where, before, limit)

    def recall(self, question: str, *, limit: int = 10, where: EpisodeFilter | None = None) -> SearchResult:
        """Return what was said and decided about something."""
        from cm_tui.engine.memory import episode_source, episode_sync

        if where is not None and where.state == "archived":
            from cm_tui.engine.episodes import archived

            return archived.recall(
                self._episodes, question, where=where, limit=limit, config=self.config, root=self._root
            )
        note = episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.WAIT_S)
        only = None
        if where is not None and where != EpisodeFilter():
            only = [episode_source.path_of(id_) for id_ in self._episodes.ids(where)]
        result = self._recall(question, limit, only)
        result = self._without_forgotten(result) if note == episode_sync.LATER else result
        return replace(result, notes=(*result.notes, note)) if note else result

    @of_one_generation
    def _recall(self, question: str, limit: int, only: list[str] | None) -> SearchResult:
        profile = self._searcher.profile(RECALL)
        if only is not None:
            # Who names the episodes wants the best of them, however little that is.
            profile = replace(profile, min_score=0.0)
        return self._searcher.search(question, profile=profile, limit=limit, only=only)

    def episode(self, name: str) -> Episode:
        """Return one of them, whole."""
        return self._episodes.one(name)

    def sessions(
        self, *, where: EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> Page[Session]:
        """Return the sessions that have episodes of this kind."""
        return self._episodes.sessions(where, before, limit)

    def episode_stats(self, *, where: EpisodeFilter | None = None, days: int = 30) -> EpisodeStats:
        """Return totals of the episodes that fit."""
        return self._episodes.stats(where, days)

    def work_state(self, name: str = "", *, session: str = "") -> WorkState:
        """Return where a session stopped."""
        from cm_tui.engine.narrator import session_turns
        from cm_tui.engine.narrator.work_state import work_state

        if name:
            turns = session_turns.turns_named(self._episodes, self._root, name)
        else:
            turns = session_turns.last_turns(self._episodes, self._root, session, time.time())
        if not turns:
            return WorkState()
        return work_state(turns, self._uncommitted(), self._written_in(turns[-1].record.session))

    def _uncommitted(self) -> list[str] | None:
        """Return the files with uncommitted changes; None: there is no git, or it cannot say."""
        if not self._repository.git:
            return None
        try:
            return sorted(self._repository.status().keys() - self._repository.not_checked_out())
        except CmError:
            return None

    def _written_in(self, session: str) -> list[str]:
        """Return the entries that were written in a session and may be in an answer, the newest first."""
        from cm_tui.engine.context.entry_line import line_of
        from cm_tui.engine.entries.entries import Entries

        found = [one for one in Entries(self._root).all().recalled if one.session == session and not one.unapproved]
        found.sort(key=lambda one: -one.timestamp)
        return [line_of(one).removeprefix("- ") for one in found]

    def edit_episodes(self, names: Sequence[str], edit: EpisodeEdit, *, actor: Actor = "person") -> Edited:
        """Change what is said of episodes."""
        from cm_tui.engine.episodes import edits

        edited = edits.edit_episodes(self._episodes, names, edit, actor)
        if edit.forgotten is not None:
            self._read_soon()
        return edited

    def undo(self, *, change: str = "", dry_run: bool = False, theirs_too: bool = False) -> Undone:
        """Take back the last change that a person made in this project, or the named one."""
        from cm_tui.engine.episodes import undo

        undone = undo.undo(self._episodes, self._root, change, dry_run=dry_run, theirs_too=theirs_too)
        if not dry_run:
            self._read_soon()
        return undone

    def record_episode(
        self,
        text: str,
        *,
        type: EpisodeType = "note",  # noqa: A002 - the field's name
        answer: str = "",
        title: str = "",
        outcome: Outcome = "",
        files: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str = "",
        actor: Actor = "person",
        agent: str = "",
    ) -> Episode:
        """Record something by hand."""
        from cm_tui.engine.episodes import by_hand
        from cm_tui.engine.memory.episode_record import EpisodeRecord

        head = self._repository.head().sha if self._repository.git else None
        record = EpisodeRecord(
            type=type, agent=agent, session=session, root=str(self._root), prompts=(text,), answer=answer,
            files=tuple(self._inside(path) for path in files), base=head or "", actor=actor, title=title,
            outcome=outcome, tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        )  # fmt: skip
        return self._episodes.listed(by_hand.record(self._episodes.journal, record, head=head))

    def retention(self, *, apply: bool = False, older_than: float | None = None) -> RetentionReport:
        """Say what leaves the journal by its age, and move it to the archive if wanted."""
        from cm_tui.engine.episodes import retention

        report = retention.retention(self._episodes, apply=apply, older_than=older_than)
        if apply and report.archived:
            self._read_episodes(again=False)
        return report

    def purge(
        self, names: Sequence[str] = (), *, older_than: float | None = None, dry_run: bool = False
    ) -> PurgeReport:
        """Delete episodes from the archive, for good."""
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

    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw."""
        return self._episodes.ordinals()

    def secrets(self) -> SecretsReport:
        """Return what looks like a secret in journal, index, logs and remembered choices."""
        from cm_tui.engine.entries.entries import Entries
        from cm_tui.engine.erasure.scan import scan
        from cm_tui.engine.journal.journal import Journal

        return scan(Journal.of(self._root), self._db, self.store, Entries(self._root))

    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> ErasureReport:
        """Erase events of the journal and all that was made from them."""
        from cm_tui.engine.entries.entries import Entries
        from cm_tui.engine.erasure.erase import Asked, erase_events, preview
        from cm_tui.engine.erasure.scan import scan_archive
        from cm_tui.engine.journal.journal import Journal

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

    def forget(self, name: str, *, undo: bool = False) -> str:
        """Forget an episode, or bring it back."""
        return self.edit_episodes([name], EpisodeEdit(forgotten=not undo)).ids[0]

    def _read_soon(self) -> None:
        """Let searches see a change at once; where others write for longer than the user waits, the next question does."""
        from cm_tui.engine.memory import episode_sync

        episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.CHANGE_S)

    def _read_episodes(self, *, again: bool) -> bool:
        """Bring the passages of episodes up to the journal; False where the index is to be made again as a whole."""
        from cm_tui.engine.memory import episode_sync

        return episode_sync.sync(self._db, self._root, self._read_text, again=again)

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
