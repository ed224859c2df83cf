"""The memory: what agents' sessions recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import (
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


class MemoryApi(Protocol):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head")
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

    @needs("nothing")
    def recall(self, question: str, *, limit: int = 10, where: EpisodeFilter | None = None) -> SearchResult:
        """Return what was said and decided about something: turns of sessions, entries and notes, best first.

        Args:
            question: in words.
            limit: how many at most; asking for more never changes the first ones.
            where: only episodes that fit; without it, everything that is remembered. With the state `archived`, the
                archive is read for this question, by words alone.
        """

    @needs("head")
    def episode(self, name: str) -> Episode:
        """Return one of them whole, with its patch and the revision that it can be replayed at; a forgotten one says so.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """

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

    @needs("nothing")
    def episode_stats(self, *, where: EpisodeFilter | None = None, days: int = 30) -> EpisodeStats:
        """Return totals of the episodes that fit, and how often each value of a field is among them.

        Args:
            where: only these episodes count.
            days: how many days `per_day` goes back, today included.
        """

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

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""

    @needs("nothing")
    def secrets(self) -> SecretsReport:
        """Return what looks like a secret, by today's patterns, in journal, index, logs and remembered choices.

        Raises:
            StoreError: one of them cannot be read.
        """

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
