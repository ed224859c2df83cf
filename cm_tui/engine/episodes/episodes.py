"""The episodes of one project: lists from the tables, one of them whole from the journal, laid on the mainline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cm_tui.counts import count
from cm_tui.engine.episodes.episode_index import EpisodeIndex
from cm_tui.engine.episodes.episode_lists import no_such, no_such_session
from cm_tui.engine.episodes.episode_rows import storable
from cm_tui.engine.episodes.episode_tables import EpisodeTables
from cm_tui.engine.episodes.first_reading import FirstReading, Read
from cm_tui.engine.episodes.forgetting import forgetting
from cm_tui.engine.git.commits import MissingError
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history.revisions import Revisions
from cm_tui.engine.journal import Journal, Position
from cm_tui.engine.journal.archive import Archive
from cm_tui.engine.memory.episode_record import read_episode
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CommitPoint, Episode, EpisodeFilter, EpisodeStats, Page, Session
from cm_tui.model.ids import plain_id

LAST = "last"
"""Names the newest episode."""
_SHORTEST_NAME = 4
_TOLD = 5
_NOT_RECORDED = "no commit was recorded: there was no git, or no commit yet"
_NONE_SO_EARLY = "no commit is known: it took place before the commits that this repository has, or without git"
_ALL = EpisodeFilter()
_HIDDEN, _IN_SIGHT = "state = 'forgotten'", "state <> 'forgotten'"


class Episodes:
    """The episodes of one project. Whole texts, patches and steps stay in the journal.

    Args:
        journal: the project's.
        tables: what the store has of it.
        revisions: resolves names on the mainline of the store.
        repository: the checkout.
        is_awaited: whether lists wait until a long journal is read, or tell of its newest episodes meanwhile.
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
        self._reading = FirstReading(self.index, tables, journal, self._sha_of, is_awaited=is_awaited)
        self._revisions = revisions
        self._repository = repository

    def close(self) -> None:
        """End what is read in the background."""
        self._reading.close()

    def page(self, match: str, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Episode]:
        """Return those that fit, newest first.

        Raises:
            NotFoundError: there is no episode of the id `before`.
            StoreError: the journal cannot be read.
        """
        self._ensure_mainline()
        read = self._reading.now()
        last = None if before is None else self._named(read.tables, before, "true")
        found = read.lists.page(self._meant(read, where), match, last, limit)
        return Page(tuple(self._laid(found.rows)), found.total, read.note)

    def ids(self, where: EpisodeFilter) -> list[str]:
        """Return the ids of all that fit.

        Raises:
            StoreError: the journal cannot be read.
        """
        read = self._reading.all()
        return read.lists.ids(self._meant(read, where))

    def archived_with(self, words: Sequence[str], where: EpisodeFilter) -> list[tuple[int, int]]:
        """Return where in the archive episodes lie that have any of some words, those with most of the rarest first.

        Args:
            words: small letters; each may stand within a longer one.
            where: which of the archive.

        Returns:
            file and place of each.

        Raises:
            StoreError: the journal cannot be read.
        """
        read = self._reading.all()
        found = read.lists.with_any(words, replace(self._meant(read, where), state="archived"))
        return [(-segment, place) for segment, place in found]

    def sessions(self, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Session]:
        """Return the sessions of those that fit.

        Raises:
            NotFoundError: there is no session of the id `before`.
            StoreError: the journal cannot be read.
        """
        read = self._reading.now()
        last = None if before is None else _session_named(read.tables, before)
        found = read.lists.sessions(self._meant(read, where), last, limit)
        return Page(found.rows, found.total, read.note)

    def stats(self, where: EpisodeFilter | None, days: int) -> EpisodeStats:
        """Return totals of those that fit.

        Raises:
            StoreError: the journal cannot be read.
        """
        read = self._reading.now()
        return replace(read.lists.stats(self._meant(read, where), days), note=read.note if read.is_part else "")

    def one(self, name: str) -> Episode:
        """Return an episode by its id, a beginning of it, or `last`; one that is forgotten says so.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        name = plain_id(name).lower()
        read = self._reading.now()
        if read.is_part and name != LAST and not _has(read.tables, name):
            read = self._reading.all()
        try:
            id_ = self._named(read.tables, name, _IN_SIGHT)
        except NotFoundError:
            if name == LAST:
                raise
            id_ = self._named(read.tables, name, _HIDDEN)
        number, segment, place = read.tables.row("SELECT seq, segment, place FROM episode WHERE id = ?", [id_])
        if segment > 0:
            event = next(self.journal.read(Position(segment, place)), None)
        else:
            event = Archive(self.journal).one(-segment, place)
        if event is None or storable(event.id) != id_:
            raise NotFoundError(f"The journal no longer has the episode {id_}.")
        now = read.lists.of([number])[0]
        whole = read_episode(event, patch=True)
        forgotten = forgetting(read.tables, self.journal, id_) if now.state == "forgotten" else None
        said = replace(whole, tags=now.tags, rating=now.rating, pinned=now.pinned, state=now.state, forgotten=forgotten)
        return self._replayed(said)

    def listed(self, id_: str) -> Episode:
        """Return an episode as lists have it, by its whole id.

        Raises:
            NotFoundError: there is none.
        """
        read = self._reading.all()
        found = read.tables.rows("SELECT seq FROM episode WHERE id = ?", [storable(id_)])
        if not found:
            raise no_such(id_)
        rows = read.lists.of([found[0][0]])
        return next(iter(self._laid(rows)))

    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals of the commits on the mainline that agents saw."""
        self._ensure_mainline()
        self.index.follow()
        shas = [row[0] for row in self.tables.rows("SELECT DISTINCT sha FROM episode WHERE state = 'shown'")]
        return tuple(sorted(moment.ordinal for moment in self._on_mainline(shas).values()))

    def _ensure_mainline(self) -> None:
        """Bring the mainline up, where there is an index: what was recorded is listed without one."""
        if self._revisions.commits.is_indexed:
            self._revisions.commits.ensure()

    def named(self, name: str, *, hidden: bool) -> str:
        """Return the id of an episode by a beginning of it, or `last`.

        Args:
            name: what was typed.
            hidden: look among those that are forgotten, instead of the others.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        self.index.follow()
        return self._named(self.tables, name, _HIDDEN if hidden else _IN_SIGHT)

    def named_all(self, names: Sequence[str], *, hidden: bool | None = False) -> tuple[str, ...]:
        """Return the ids of episodes by their names, each once.

        Args:
            names: as for `named`.
            hidden: look among those that are forgotten, or not; None: among all.

        Raises:
            NotFoundError: there is none of a name.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        self.index.follow()
        among = "true" if hidden is None else _HIDDEN if hidden else _IN_SIGHT
        whole = [storable(plain_id(name).lower()) for name in names]
        sql = f"SELECT id FROM episode WHERE {among} AND id IN (SELECT unnest(?))"  # noqa: S608 - our own words
        known = {row[0] for row in self.tables.rows(sql, [whole])}
        return tuple(dict.fromkeys(name if name in known else self._named(self.tables, name, among) for name in whole))

    @staticmethod
    def _named(tables: EpisodeTables, name: str, among: str) -> str:
        name = storable(plain_id(name).lower())
        newest = f"SELECT id FROM episode WHERE {among}"  # noqa: S608 - our own words
        if name == LAST:
            # What is archived is old, whatever the order of the rest.
            found = tables.rows(f"{newest} AND state <> 'archived' ORDER BY time DESC, seq DESC LIMIT 1")
        else:
            found = tables.rows(f"{newest} AND id = ?", [name])
        if not found and len(name) >= _SHORTEST_NAME:
            found = tables.rows(f"{newest} AND starts_with(id, ?)", [name])
        if not found:
            raise no_such(name)
        if len(found) > 1:
            some = ", ".join(sorted(row[0] for row in found)[:_TOLD])
            raise UsageError(
                f"{count(len(found), 'episode')} begin with {name!r}: {some}.", hint="Give more of the id."
            )
        return str(found[0][0])

    @staticmethod
    def _meant(read: Read, where: EpisodeFilter | None) -> EpisodeFilter:
        """Return a filter with the whole id of its session."""
        if where is None or not where.session:
            return where or _ALL
        try:
            return replace(where, session=_session_named(read.tables, where.session))
        except NotFoundError:
            if read.is_part:
                # It may be among what is not read yet.
                return where
            raise

    # --- the mainline ---

    def _sha_of(self, ordinal: int) -> str | None:
        found = self._revisions.commits.at(ordinal)
        return found.sha if found else None

    def _on_mainline(self, shas: Iterable[str]) -> Mapping[str, CommitPoint]:
        """Return those of the commits that are on the mainline, by sha."""
        return self._revisions.commits.of_shas(set(shas) - {""}) if self._repository.git else {}

    def _laid(self, rows: Sequence[Episode]) -> Iterable[Episode]:
        """Yield episodes with the commits that they saw; each is looked for once, where there is an index to look in."""
        if not self._revisions.commits.is_indexed:
            yield from rows
            return
        places: dict[str, tuple[CommitPoint | None, str]] = {}
        on_mainline = self._on_mainline(one.sha for one in rows)
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
            return None, "this project has no git: its commits cannot be read"
        try:
            return self._revisions.point(self._repository.resolve(sha)), ""
        except (MissingError, NotFoundError):
            gone = "is not in this repository: it was rewritten and cleaned up, or made in another clone"
            return None, f"{sha[:10]} {gone}"

    def _replayed(self, episode: Episode) -> Episode:
        """Return the episode with what has to be said of its commit."""
        self._ensure_mainline()
        placed = next(iter(self._laid([episode])))
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)


def _session_named(tables: EpisodeTables, name: str) -> str:
    """Return the id of a session by a beginning of it.

    Raises:
        NotFoundError: there is none.
        UsageError: there are several.
    """
    known = "SELECT DISTINCT session FROM episode WHERE"
    # What a program calls its sessions may look like a kind with an id behind it.
    whole = list(dict.fromkeys((storable(name), storable(plain_id(name)))))
    found = tables.rows(f"{known} session IN (SELECT unnest(?)) LIMIT 1", [whole])
    if not found and len(whole[-1]) >= _SHORTEST_NAME:
        found = tables.rows(f"{known} starts_with(session, ?) ORDER BY session LIMIT 50", [whole[-1]])
    if not found:
        raise no_such_session(name)
    if len(found) > 1:
        some = ", ".join(row[0][:80] for row in found[:_TOLD])
        raise UsageError(
            f"{count(len(found), 'session')} begin with {name[:40]!r}: {some}.", hint="Give more of the id."
        )
    return str(found[0][0])


def _has(tables: EpisodeTables, name: str) -> bool:
    """Return whether there is an episode of this whole id."""
    return bool(tables.rows("SELECT 1 FROM episode WHERE id = ?", [storable(name.strip().lower())]))
