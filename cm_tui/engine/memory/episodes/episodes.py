"""The episodes of one project: lists from the tables, single ones from the journal, placed on the mainline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.memory.entries.entry_undo import forgetting_of
from cm_tui.engine.memory.episodes.episode_index import EpisodeIndex
from cm_tui.engine.memory.episodes.episode_lists import (
    ANY,
    HIDDEN,
    IN_SIGHT,
    LAST,
    UsedSession,
    episode_named,
    episodes_named,
    is_whole,
    no_such,
    session_named,
)
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables, storable
from cm_tui.engine.memory.episodes.first_reading import FirstReading, Read
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord, read_episode
from cm_tui.engine.memory.projection.visibility import FORGOTTEN
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError
from cm_tui.model import CommitPoint, Episode, EpisodeFilter, EpisodeStats, Forgetting, Page, Session
from cm_tui.model.ids import plain_id

_NOT_RECORDED = "no commit recorded: there was no git repository, or no commit yet"
_NONE_SO_EARLY = "commit unknown: older than the commits of this repository, or recorded without git"


class CommitPlaces:
    """Lays episodes on the mainline of one project.

    `revisions`: resolves names on the mainline of the store.
    """

    def __init__(self, revisions: Revisions, repository: Repository) -> None:
        self._revisions = revisions
        self._repository = repository

    def ensure(self) -> None:
        """Update the mainline if there is an index; episodes are listed without one, too."""
        if self._revisions.commits.is_indexed:
            self._revisions.commits.ensure()

    def sha_of(self, ordinal: int) -> str | None:
        """Return the commit of the mainline that has an ordinal."""
        found = self._revisions.commits.at(ordinal)
        return found.sha if found else None

    def on_mainline(self, shas: Iterable[str]) -> Mapping[str, CommitPoint]:
        """Return the commits on the mainline, by sha."""
        return self._revisions.commits.of_shas(set(shas) - {""}) if self._repository.git else {}

    def with_commits(self, rows: Sequence[Episode]) -> Iterable[Episode]:
        """Yield episodes with their commits, each looked up once, if there is an index."""
        if not self._revisions.commits.is_indexed:
            yield from rows
            return
        places: dict[str, tuple[CommitPoint | None, str]] = {}
        on_mainline = self.on_mainline(one.sha for one in rows)
        for one in rows:
            if one.sha not in places:
                places[one.sha] = self._place(one.sha, on_mainline)
            moment, why = places[one.sha]
            if not one.sha and one.actor == "import":
                why = _NONE_SO_EARLY
            yield replace(one, moment=moment, why=why)

    def _place(self, sha: str, on_mainline: Mapping[str, CommitPoint]) -> tuple[CommitPoint | None, str]:
        moment = on_mainline.get(sha)
        if moment is not None:
            return moment, ""
        if not sha:
            return None, _NOT_RECORDED
        if not self._repository.git:
            return None, "this project has no git repository, so there are no commits to read"
        try:
            return self._revisions.point(self._repository.resolve(sha)), ""
        except (MissingError, NotFoundError):
            gone = "is not in this repository: it was rewritten and pruned, or made in another clone"
            return None, f"{sha[:10]} {gone}"

    def replayed(self, episode: Episode) -> Episode:
        """Return the episode with its moment, and a note where its commit is not on the mainline."""
        self.ensure()
        placed = next(iter(self.with_commits([episode])))
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)


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


_ALL = EpisodeFilter()


class Episodes:
    """The episodes of one project. Whole texts, patches and steps stay in the journal.

    `tables`: the store's part of them. `revisions`: resolves names on the mainline of the store. `is_awaited`: whether
    lists wait until a long journal is read; otherwise they show its newest episodes meanwhile.
    """

    def __init__(
        self,
        journal: Journal,
        tables: EpisodeTables,
        revisions: Revisions,
        repository: Repository,
        *,
        is_awaited: bool = True,
    ) -> None:
        self.journal = journal
        self.tables = tables
        self.index = EpisodeIndex(tables, journal)
        self._places = CommitPlaces(revisions, repository)
        self._reading = FirstReading(self.index, tables, journal, self._places.sha_of, is_awaited=is_awaited)

    def close(self) -> None:
        """Stop reading in the background."""
        self._reading.close()

    def follow(self) -> str:
        """Update the tables from the journal where that is quick; return a note for the user where it is not.

        Raises StoreError if the journal cannot be read, or the store not be written.
        """
        read = self._reading.now()
        return read.note if read.is_part else ""

    def page(self, match: str, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Episode]:
        """Return the matching ones, newest first.

        Raises NotFoundError if no episode has the id `before`; StoreError if the journal cannot be read.
        """
        self._places.ensure()
        read = self._reading.now()
        found = read.lists.page(self._with_session(read, where), match, before, limit)
        return Page(tuple(self._places.with_commits(found.rows)), found.total, read.note)

    def ids(self, where: EpisodeFilter) -> list[str]:
        """Return the ids of all that fit. Raises StoreError if the journal cannot be read."""
        read = self._reading.all()
        return read.lists.ids(self._with_session(read, where))

    def forgotten(self) -> list[str]:
        """Return the ids of hidden ones in the part of the journal read so far, without waiting for the first reading.

        Raises StoreError if the journal cannot be read.
        """
        read = self._reading.now()
        return read.lists.ids(self._with_session(read, EpisodeFilter(state="forgotten")))

    def archived_with(self, words: Sequence[str], where: EpisodeFilter) -> list[tuple[int, int]]:
        """Return places in the archive of episodes with any of some words, those with most of the rarest first.

        `words`: in lower case; each may be part of a longer one. Returns file and place of each. Raises StoreError if
        the journal cannot be read.
        """
        read = self._reading.all()
        found = read.lists.with_any(words, replace(self._with_session(read, where), state="archived"))
        return [(-segment, place) for segment, place in found]

    def sessions(self, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Session]:
        """Return the sessions of the matching ones.

        Raises NotFoundError if no session has the id `before`; StoreError if the journal cannot be read.
        """
        read = self._reading.now()
        last = None if before is None else session_named(read.tables, before)
        found = read.lists.sessions(self._with_session(read, where), last, limit)
        return Page(found.rows, found.total, read.note)

    def last_sessions(self, since: float, limit: int) -> list[UsedSession]:
        """Return agents' sessions since a time, the last one to end first.

        Raises StoreError if the journal cannot be read.
        """
        return self._reading.now().lists.last_sessions(since, limit)

    def stats(self, where: EpisodeFilter | None, days: int) -> EpisodeStats:
        """Return totals of the matching ones. Raises StoreError if the journal cannot be read."""
        read = self._reading.now()
        return replace(read.lists.stats(self._with_session(read, where), days), note=read.note if read.is_part else "")

    def one(self, name: str) -> Episode:
        """Return an episode by its id, a prefix of it, or `last`; a forgotten one is marked as such.

        Raises NotFoundError if no episode has that name; UsageError if the name is ambiguous; StoreError if the journal
        cannot be read.
        """
        name = plain_id(name).lower()
        read = self._reading.now()
        if read.is_part and name != LAST and not is_whole(read.tables, name):
            read = self._reading.all()
        try:
            id_, number, segment, place = episode_named(read.tables, name, IN_SIGHT)
        except NotFoundError:
            if name == LAST:
                raise
            id_, number, segment, place = episode_named(read.tables, name, HIDDEN)
        if segment > 0:
            event = next(self.journal.read(Position(segment, place)), None)
        else:
            event = Archive(self.journal).one(-segment, place)
        now = read.lists.one(number)
        if event is None or now is None or not now.id == storable(event.id) == id_:
            raise NotFoundError(f"The journal no longer contains the episode {id_}.")
        whole = read_episode(event, patch=True)
        forgotten = forgetting(read.tables, self.journal, id_) if now.state == "forgotten" else None
        said = replace(whole, tags=now.tags, rating=now.rating, pinned=now.pinned, state=now.state, forgotten=forgotten)
        return self._places.replayed(said)

    def session_named(self, name: str) -> str:
        """Return the id of a session by a prefix of it.

        Raises NotFoundError if no session has that name; UsageError if the name is ambiguous; StoreError if the journal
        cannot be read.
        """
        return session_named(self._reading.all().tables, name)

    def session_of(self, name: str) -> str:
        """Return the session of a visible episode by a prefix of the episode's id, or `last`.

        Raises NotFoundError if no episode has that name, or it belongs to no session; UsageError if the name is
        ambiguous; StoreError if the journal cannot be read.
        """
        tables = self._reading.all().tables
        found = episode_named(tables, name, IN_SIGHT)
        session = tables.rows("SELECT session FROM episode WHERE seq = ?", [found.number])[0][0]
        if not session:
            raise NotFoundError(
                f"The episode {found.id} does not belong to a session.", hint="It was recorded by hand."
            )
        return str(session)

    def newest_of(self, session: str, limit: int) -> list[tuple[str, float, EpisodeRecord]]:
        """Return the newest visible episodes of a session from the journal, the oldest first: id, time, record.

        `session`: empty: of all sessions. Raises StoreError if the journal cannot be read.
        """
        places = self._reading.now().tables.rows(
            "SELECT id, time, segment, place FROM episode WHERE ? IN ('', session) AND state = 'shown' ORDER BY time DESC, seq DESC LIMIT ?",
            [storable(session), limit],
        )
        found = []
        for id_, when, segment, place in reversed(places):
            event = next(self.journal.read(Position(segment, place)), None)
            if event is not None and storable(event.id) == id_:
                found.append((str(id_), float(when), EpisodeRecord.from_event(event)))
        return found

    def listed(self, id_: str) -> Episode:
        """Return an episode as in lists, by its whole id. Raises NotFoundError if no episode has that id."""
        read = self._reading.all()
        found = read.tables.rows("SELECT seq FROM episode WHERE id = ?", [storable(id_)])
        if not found:
            raise no_such(id_)
        now = read.lists.one(found[0][0])
        if now is None:
            raise no_such(id_)
        return next(iter(self._places.with_commits([now])))

    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals of the commits on the mainline that agents saw."""
        self._places.ensure()
        self.index.follow()
        shas = [row[0] for row in self.tables.rows("SELECT DISTINCT sha FROM episode WHERE state = 'shown'")]
        return tuple(sorted(moment.ordinal for moment in self._places.on_mainline(shas).values()))

    def named(self, name: str, *, hidden: bool) -> str:
        """Return the id of an episode by a prefix of it, or `last`.

        `name`: what was typed; `hidden`: look among the forgotten ones instead of the others. Raises NotFoundError if
        no episode has that name; UsageError if the name is ambiguous; StoreError if the journal cannot be read.
        """
        self.index.follow()
        return episode_named(self.tables, name, HIDDEN if hidden else IN_SIGHT).id

    def named_all(self, names: Sequence[str], *, hidden: bool | None = False) -> tuple[str, ...]:
        """Return the ids of episodes by their names, each once.

        `names`: as for `named`. `hidden`: look among the forgotten ones, or the others; None: among all. Raises
        NotFoundError if a name matches no episode; UsageError if a name is ambiguous; StoreError if the journal cannot
        be read.
        """
        self.index.follow()
        return episodes_named(self.tables, names, ANY if hidden is None else HIDDEN if hidden else IN_SIGHT)

    @staticmethod
    def _with_session(read: Read, where: EpisodeFilter | None) -> EpisodeFilter:
        """Return a filter with the whole id of its session."""
        if where is None or not where.session:
            return where or _ALL
        try:
            return replace(where, session=session_named(read.tables, where.session))
        except NotFoundError:
            if read.is_part:
                # It may be in the unread part.
                return where
            raise
