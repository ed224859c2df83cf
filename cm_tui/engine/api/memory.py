"""The memory: what agents' sessions recorded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.index import IndexMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.api.rooms import of_one_generation
from cm_tui.errors import CmError

if TYPE_CHECKING:
    from cm_tui.model import (
        Actor,
        Edited,
        Episode,
        EpisodeEdit,
        EpisodeFilter,
        EpisodeStats,
        EpisodeType,
        Outcome,
        Page,
        SearchResult,
        Session,
        Undone,
        WorkState,
    )


class MemoryMethods(IndexMethods):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head", shared=False)
    def episodes(
        self, *, match: str = "", where: EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> Page[Episode]:
        """Return what was recorded, newest first, without patches and steps, and of long texts the beginnings.

        Args:
            match: only those that have these words, as `EpisodeFilter.text`.
            where: only those that fit this as well.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.

        Raises:
            NotFoundError: there is no episode of the id `before`.
        """
        return self._episodes.page(match, where, before, limit)

    @needs("nothing")
    def recall(self, question: str, *, limit: int = 10, where: EpisodeFilter | None = None) -> SearchResult:
        """Return what was said and decided about something: turns of sessions, entries and notes, best first.

        Args:
            question: in words.
            limit: how many at most; asking for more never changes the first ones.
            where: only episodes that fit; without it, everything that is remembered. With the state `archived`, the
                archive is read for this question, by words alone.
        """
        from cm_tui.engine.memory import episode_source, episode_sync

        if where is not None and where.state == "archived":
            from cm_tui.engine.episodes import archived

            return archived.recall(
                self._episodes, question, where=where, limit=limit, config=self.config, root=self._root
            )
        note = episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.WAIT_S)
        only = None
        if where is not None and where != model.EpisodeFilter():
            only = [episode_source.path_of(id_) for id_ in self._episodes.ids(where)]
        result = self._recall(question, limit, only)
        result = self._without_forgotten(result) if note == episode_sync.LATER else result
        return replace(result, notes=(*result.notes, note)) if note else result

    @of_one_generation
    def _recall(self, question: str, limit: int, only: list[str] | None) -> SearchResult:
        profile = self._searcher.profile(model.RECALL)
        if only is not None:
            # Who names the episodes wants the best of them, however little that is.
            profile = replace(profile, min_score=0.0)
        return self._searcher.search(question, profile=profile, limit=limit, only=only)

    @needs("head", shared=False)
    def episode(self, name: str) -> Episode:
        """Return one of them whole, with its patch and the revision that it can be replayed at; a forgotten one says so.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """
        return self._episodes.one(name)

    @needs("nothing")
    def sessions(
        self, *, where: EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> Page[Session]:
        """Return the sessions that have episodes of this kind, and what of them fits; the one that ended last comes first.

        Args:
            where: only these episodes count.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most.

        Raises:
            NotFoundError: there is no session of the id `before`.
        """
        return self._episodes.sessions(where, before, limit)

    @needs("nothing")
    def episode_stats(self, *, where: EpisodeFilter | None = None, days: int = 30) -> EpisodeStats:
        """Return totals of the episodes that fit, and how often each value of a field is among them.

        Args:
            where: only these episodes count.
            days: how many days `per_day` goes back, today included.
        """
        return self._episodes.stats(where, days)

    @needs("nothing")
    def work_state(self, name: str = "", *, session: str = "") -> WorkState:
        """Return where a session stopped: its last request, decisions, uncommitted files, what fails, what is planned.

        Only episodes that are shown count, and the turn that is still under way.

        Args:
            name: the session's id or a beginning of it, or an episode of it; `last` is the one that was worked in last. Empty:
                the same, if that was within the last 7 days. Sessions of sub-agents have to be named. The record is empty
                without one.
            session: with an empty name, a session that comes before all others where anything of it is recorded.

        Raises:
            NotFoundError: nothing of that name is shown.
            UsageError: several are of that name.
            StoreError: the journal cannot be read.
        """
        from cm_tui.engine.narrator import session_turns
        from cm_tui.engine.narrator.work_state import work_state

        if name:
            turns = session_turns.turns_named(self._episodes, self._root, name)
        else:
            turns = session_turns.last_turns(self._episodes, self._root, session, time.time())
        if not turns:
            return model.WorkState()
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

    @needs("nothing", writes=("memory",))
    def edit_episodes(self, names: Sequence[str], edit: EpisodeEdit, *, actor: Actor = "person") -> Edited:
        """Change what is said of episodes: tags, rating, pin, whether they are shown. `undo` takes it back.

        Args:
            names: ids, or beginnings that no other has; `last` is the newest.
            edit: what changes.
            actor: who changes it; only a person changes what a person wrote, pinned, rated, tagged or brought back.

        Raises:
            NotFoundError: there is none of a name.
            UsageError: there are several of a name, or nothing is named or to be changed.
            RefusedError: it is a person's, and somebody else changes it.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.episodes import edits

        edited = edits.edit_episodes(self._episodes, names, edit, actor)
        if edit.forgotten is not None:
            self._read_soon()
        return edited

    @needs("nothing", writes=("memory",))
    def undo(self, *, change: str = "", dry_run: bool = False, theirs_too: bool = False) -> Undone:
        """Take back the last change that a person made in this project and that was not taken back yet, of any kind.

        Args:
            change: id of the change that is taken back instead of the last one.
            dry_run: only say what it would take back.
            theirs_too: also where somebody changed the text since; without it, that stays and is told.

        Raises:
            NotFoundError: there is nothing to take back.
            UsageError: the change that is named cannot be taken back.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.episodes import undo

        undone = undo.undo(self._episodes, self._root, change, dry_run=dry_run, theirs_too=theirs_too)
        if not dry_run:
            self._read_soon()
        return undone

    @needs("nothing", writes=("memory",))
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
        """Record something by hand: a note, a command that was run, a question and its answer.

        Args:
            text: what was noted, run or asked.
            type: what it is.
            answer: what came of it.
            title: of its session.
            outcome: whether it worked.
            files: paths that it is about, below the project's root.
            tags: words to find it by.
            session: which it belongs to; by default that of the day.
            actor: who records it.
            agent: name of the agent that does.

        Raises:
            UsageError: there is no text, or too much.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.episodes import by_hand
        from cm_tui.engine.memory.episode_record import EpisodeRecord

        head = self._repository.head().sha if self._repository.git else None
        record = EpisodeRecord(
            type=type, agent=agent, session=session, root=str(self._root), prompts=(text,), answer=answer,
            files=tuple(self._inside(path) for path in files), base=head or "", actor=actor, title=title,
            outcome=outcome, tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        )  # fmt: skip
        return self._episodes.listed(by_hand.record(self._episodes.journal, record, head=head))

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""
        return self._episodes.ordinals()

    @needs("nothing", writes=("memory",))
    def forget(self, name: str, *, undo: bool = False) -> str:
        """Forget an episode, or bring it back; returns its id. The journal keeps it.

        Args:
            name: its id, or a beginning that no other has.
            undo: bring back one that was forgotten.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
            StoreError: the journal cannot be written.
        """
        return self.edit_episodes([name], model.EpisodeEdit(forgotten=not undo)).ids[0]

    def _read_soon(self) -> None:
        """Let searches see a change at once; where others write for longer than the user waits, the next question does."""
        from cm_tui.engine.memory import episode_sync

        episode_sync.sync_before_question(self._db, self._root, self._read_text, wait=episode_sync.CHANGE_S)

    def _read_episodes(self, *, again: bool) -> bool:
        """Bring the passages of episodes up to the journal; False where the index is to be made again as a whole."""
        from cm_tui.engine.memory import episode_sync

        return episode_sync.sync(self._db, self._root, self._read_text, again=again)
