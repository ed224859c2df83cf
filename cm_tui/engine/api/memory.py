"""The memory: what agents' sessions recorded."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.index import IndexMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import CmError, RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.context.layers.kv import WorkingMemory

_OWN_FILES = (".cm/.gitignore", ".cm/memory.json", ".cm/notes/", ".cm/memory/")
"""Beginnings of paths that the memory itself writes: no work of a session."""


class MemoryMethods(IndexMethods):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head", shared=False)
    def episodes(
        self, *, match: str = "", where: model.EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> model.Page[model.Episode]:
        """Return episodes, newest first, without patches and steps, and with long texts cut.

        `match`: only those with these words, as `EpisodeFilter.text`. `where`: a further filter. `before`: id of the
        last episode of the previous page. `limit`: the most to return; the total counts all matches, before and after
        this page. Raises NotFoundError if no episode has the id `before`.
        """
        return self._episodes.page(match, where, before, limit)

    @needs("nothing")
    def recall(self, question: str, *, limit: int = 10, where: model.EpisodeFilter | None = None) -> model.SearchResult:
        """Return turns of sessions, entries and notes about a question, best first.

        `question`: in words. `limit`: the most to return; a higher limit never changes the first ones. `where`: only
        matching episodes; by default, the whole memory. With the state `archived`, the archive is read for this
        question, by words alone.
        """
        from cm_tui.engine.memory.projection import episode_source, episode_sync

        if where is not None and where.state == "archived":
            from cm_tui.engine.memory.episodes import retention

            return retention.recall(
                self._episodes, question, where=where, limit=limit, config=self.config, root=self._root
            )
        note = self._read_journal()
        only = None
        if where is not None and where != model.EpisodeFilter():
            only = [episode_source.path_of(id_) for id_ in self._episodes.ids(where)]
        profile = self._searcher.profile(model.RECALL)
        if only is not None:
            # A caller that names the episodes wants the best of them, whatever the score.
            profile = replace(profile, min_score=0.0)
        result = self._of_one_generation(
            lambda: self._searcher.search(question, profile=profile, limit=limit, only=only)
        )
        result = self._without_forgotten(result) if episode_sync.is_late(note) else result
        return replace(result, notes=(*result.notes, note)) if note else result

    @needs("head", shared=False)
    def episode(self, name: str) -> model.Episode:
        """Return an episode with its patch and the revision to replay it at; a forgotten one is marked as such.

        `name`: its id, or a unique prefix of it; `last` is the newest. Raises NotFoundError if no episode has that
        name; UsageError if the name is ambiguous.
        """
        return self._episodes.one(name)

    @needs("nothing")
    def sessions(
        self, *, where: model.EpisodeFilter | None = None, before: str | None = None, limit: int = 200
    ) -> model.Page[model.Session]:
        """Return sessions with matching episodes, and their matches; the last one to end comes first.

        `where`: only these episodes count; `before`: id of the last session of the previous page; `limit`: the most to
        return. Raises NotFoundError if no session has the id `before`.
        """
        return self._episodes.sessions(where, before, limit)

    @needs("nothing")
    def episode_stats(self, *, where: model.EpisodeFilter | None = None, days: int = 30) -> model.EpisodeStats:
        """Return totals of the matching episodes, and counts by value of each field.

        `where`: only these episodes count; `days`: how many days `per_day` goes back, today included.
        """
        return self._episodes.stats(where, days)

    @needs("nothing")
    def work_state(self, name: str = "", *, session: str = "") -> model.WorkState:
        """Return a session's last request, decisions, uncommitted files, failures and plans.

        Only visible episodes count, and the turn that is still under way.

        Args:
            name: the session's id or a prefix of it, or an episode of it; `last` is the last used one. Empty: the last
                used one of the last 7 days. Sessions of sub-agents have to be named. The record is empty without a
                session.
            session: preferred to all others where the name is empty, if anything of it is recorded.

        Raises:
            NotFoundError: nothing visible has that name.
            UsageError: the name is ambiguous.
            StoreError: the journal cannot be read.
        """
        from cm_tui.engine.context.packs.work_state import last_turns, turns_named, work_state

        if name:
            turns = turns_named(self._episodes, self._root, name)
        else:
            turns = last_turns(self._episodes, self._root, session, time.time())
        if not turns:
            return model.WorkState()
        return work_state(turns, self._uncommitted(), self._written_in(turns[-1].record.session))

    def _uncommitted(self) -> list[str] | None:
        """Return the files with uncommitted changes; None: no git, or unknown."""
        if not self._repository.git:
            return None
        try:
            changed = self._repository.status().keys() - self._repository.not_checked_out()
            return sorted(path for path in changed if not path.startswith(_OWN_FILES))
        except CmError:
            return None

    def _written_in(self, session: str) -> list[str]:
        """Return the recallable entries written in a session, the newest first."""
        from cm_tui.engine.context.packs.injection import line_of

        found = [one for one in self._entries().all().recalled if one.session == session and not one.unapproved]
        found.sort(key=lambda one: -one.timestamp)
        return [line_of(one).removeprefix("- ") for one in found]

    @needs("nothing", writes=("memory",))
    def edit_episodes(
        self, names: Sequence[str], edit: model.EpisodeEdit, *, actor: model.Actor = "person"
    ) -> model.Edited:
        """Edit tags, rating, pin or visibility of episodes; `undo` reverts it.

        Args:
            names: ids, or unique prefixes; `last` is the newest.
            edit: what changes.
            actor: who changes it; only the user changes what the user wrote, pinned, rated, tagged or restored.

        Raises:
            NotFoundError: a name matches no episode.
            UsageError: a name is ambiguous, or there is nothing to change.
            RefusedError: the value is the user's, and the actor is not the user.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.memory.episodes import edits

        edited = edits.edit_episodes(self._episodes, names, edit, actor)
        if edit.forgotten is not None:
            self._read_soon()
        return edited

    @needs("nothing", writes=("memory",), once=True)
    def undo(self, *, change: str = "", dry_run: bool = False, theirs_too: bool = False) -> model.Undone:
        """Undo the user's last change of any kind in this project that is not undone yet.

        Args:
            change: id of the change to undo instead of the last one.
            dry_run: only report what would be undone.
            theirs_too: undo even where the text was changed since; otherwise it is kept and reported.

        Raises:
            NotFoundError: there is nothing to undo.
            UsageError: the named change cannot be undone.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.memory.episodes import undo

        undone = undo.undo(self._episodes, self._root, change, dry_run=dry_run, theirs_too=theirs_too)
        if not dry_run:
            self._read_soon()
        return undone

    @needs("nothing", writes=("memory",), once=True)
    def record_episode(
        self,
        text: str,
        *,
        type: model.EpisodeType = "note",  # noqa: A002 - the field's name
        answer: str = "",
        title: str = "",
        outcome: model.Outcome = "",
        files: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str = "",
        actor: model.Actor = "person",
        agent: str = "",
        plan: str = "",
        patch: str = "",
        verdict: str = "",
    ) -> model.Episode:
        """Record something by hand: a note, a command, a question and its answer, a task.

        Args:
            text: the note, command, question or task.
            type: its kind. Secrets are redacted in a task before it is cut, and the same one is recorded once.
            answer: the result.
            title: of its session.
            outcome: whether it worked.
            files: related paths, below the project's root.
            tags: search words.
            session: default: the session of the day.
            actor: who records it.
            agent: name of the agent, if any.
            plan: of a task.
            patch: of a task: the change, as a diff.
            verdict: of a task: the result.

        Raises:
            UsageError: the text is empty or too long.
            RefusedError: a path leads out of the project, or recording is off and the actor is not the user.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.memory.episodes import edits
        from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

        self._check_recorded(actor, session)
        head = self._repository.head().sha
        record = EpisodeRecord(
            type=type, plan=plan, patch=patch, verdict=verdict, agent=agent, session=session, root=str(self._root), prompts=(text,), answer=answer,
            files=tuple(self._inside(path) for path in files), base=head or "", actor=actor, title=title,
            outcome=outcome, tags=tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip())),
        )  # fmt: skip
        if type == "task":
            return self._episodes.listed(edits.record_task(self._root, self._episodes, record))
        return self._episodes.listed(edits.record(self._episodes.journal, record, head=head))

    def _check_recorded(self, actor: model.Actor, session: str) -> None:
        """Refuse writes by anyone but the user while recording is off."""
        if actor != "person" and (reason := self._why_not_recorded(session)):
            raise RefusedError(f"Nothing was recorded: {reason}.", hint="Only the user can change that: `cm resume`.")

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""
        return self._episodes.ordinals()

    @needs("nothing", writes=("log",))
    def note_recalled(self, paths: Sequence[str], *, actor: model.Actor = "person", agent: str = "") -> None:
        """Count recalled items; nothing is counted in a pause, nor what a user's script asks for in a loop more than once.

        `paths`: such as `entry/k3m9x2a`, each counted once; `actor`: who received them; `agent`: name of the agent, if
        any.
        """
        who = actor if actor == "person" else agent or actor
        if not paths or self._why_not_recorded():
            return
        # An agent that finds an item and then reads it has recalled it twice.
        if actor != "person" or not self._recall_log.is_repeat(paths, who):
            self._recall_log.note(paths, who)

    @needs("nothing")
    def recall_counts(self, paths: Sequence[str]) -> tuple[model.Recalls, ...]:
        """Return how often each was recalled, when last and by whom, in the order of the paths.

        `paths`: such as `entry/k3m9x2a`. Raises StoreError if the counts cannot be read.
        """
        found = self._recall_log.counts(set(paths))
        return tuple(found.get(path) or model.Recalls(path) for path in paths)

    @needs("nothing")
    def cache_for_session(self, session: str, key: str, value: str) -> None:
        """Cache a text for a session for half an hour, with secrets redacted; the oldest of more than three is dropped.

        `session`: its id; other sessions and projects do not see it. `value`: the text, at most 100,000 characters.
        Raises UsageError: session or name is missing, or something is too long.
        """
        from cm_tui.engine.platform.redaction.redact import redact

        self._session_cache.put(session, key, redact(value).text)

    @needs("nothing")
    def cached_for_session(self, session: str, key: str) -> str | None:
        """Return a session's cached text; None: missing or expired."""
        return next((one.value for one in self._session_cache.matching(session) if one.key == key), None)

    @shared_property
    def _session_cache(self) -> WorkingMemory:
        from cm_tui.engine.context.layers.kv import WorkingMemory

        return WorkingMemory(keys=3, ttl=1_800.0, characters=100_000)

    def _read_soon(self) -> None:
        """Let searches see a change at once, or with the next request if other writers take longer than the user waits."""
        from cm_tui.engine.memory.projection import episode_sync

        self._read_journal(episode_sync.CHANGE_S)

    def _read_episodes(self, *, again: bool) -> bool:
        """Update the passages of episodes from the journal; False where the whole index must be rebuilt."""
        from cm_tui.engine.memory.projection import episode_sync

        return episode_sync.sync(self._db, self._root, self._read_text, again=again)
