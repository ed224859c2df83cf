"""The episodes of one project: lists from the tables, one of them whole from the journal, laid on the mainline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cm_tui.counts import count
from cm_tui.engine.git.commits import MissingError
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history.revisions import Revisions
from cm_tui.engine.journal import Journal, Position
from cm_tui.engine.journal.archive import Archive
from cm_tui.engine.memory.episode_index import EpisodeIndex
from cm_tui.engine.memory.episode_lists import EpisodeLists, no_such
from cm_tui.engine.memory.episode_record import read_episode
from cm_tui.engine.memory.episode_rows import storable
from cm_tui.engine.memory.episode_tables import EpisodeTables
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CommitPoint, Episode, EpisodeFilter, EpisodeStats, Page, Session

LAST = "last"
"""Names the newest episode."""
_SHORTEST_NAME = 4
_NOT_RECORDED = "no commit was recorded: there was no git, or no commit yet"
_ALL = EpisodeFilter()


class Episodes:
    """The episodes of one project. Whole texts, patches and steps stay in the journal.

    Args:
        journal: the project's.
        tables: what the store has of it.
        revisions: resolves names on the mainline of the store.
        repository: the checkout.
    """

    def __init__(self, journal: Journal, tables: EpisodeTables, revisions: Revisions, repository: Repository) -> None:
        self.journal = journal
        self.tables = tables
        self.index = EpisodeIndex(tables, journal)
        self._lists = EpisodeLists(tables, self._sha_of)
        self._revisions = revisions
        self._repository = repository

    def page(self, match: str, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Episode]:
        """Return those that fit, newest first.

        Raises:
            NotFoundError: there is no episode of the id `before`.
            StoreError: the journal cannot be read.
        """
        self._revisions.commits.ensure()
        note = self.index.follow().note
        found = self._lists.page(where or _ALL, match, before, limit)
        return Page(tuple(self._laid(found.rows)), found.total, note)

    def sessions(self, where: EpisodeFilter | None, before: str | None, limit: int) -> Page[Session]:
        """Return the sessions of those that fit.

        Raises:
            NotFoundError: there is no session of the id `before`.
            StoreError: the journal cannot be read.
        """
        note = self.index.follow().note
        found = self._lists.sessions(where or _ALL, before, limit)
        return Page(found.rows, found.total, note)

    def stats(self, where: EpisodeFilter | None, days: int) -> EpisodeStats:
        """Return totals of those that fit.

        Raises:
            StoreError: the journal cannot be read.
        """
        self.index.follow()
        return self._lists.stats(where or _ALL, days)

    def one(self, name: str) -> Episode:
        """Return an episode by its id, a beginning of it, or `last`.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        id_ = self.named(name, hidden=False)
        number, segment, place = self.tables.row("SELECT seq, segment, place FROM episode WHERE id = ?", [id_])
        if segment > 0:
            event = next(self.journal.read(Position(segment, place)), None)
        else:
            event = Archive(self.journal).one(-segment, place)
        if event is None or storable(event.id) != id_:
            raise NotFoundError(f"The journal no longer has the episode {id_}.")
        now = self._lists.of([number])[0]
        whole = read_episode(event, patch=True)
        said = replace(whole, tags=now.tags, rating=now.rating, pinned=now.pinned, state=now.state)
        return self._replayed(said)

    def listed(self, id_: str) -> Episode:
        """Return an episode as lists have it, by its whole id.

        Raises:
            NotFoundError: there is none.
        """
        self.index.follow()
        found = self.tables.rows("SELECT seq FROM episode WHERE id = ?", [storable(id_)])
        if not found:
            raise no_such(id_)
        rows = self._lists.of([found[0][0]])
        return next(iter(self._laid(rows))) if self._revisions.commits.is_indexed else rows[0]

    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals of the commits on the mainline that agents saw."""
        self._revisions.commits.ensure()
        self.index.follow()
        shas = [row[0] for row in self.tables.rows("SELECT DISTINCT sha FROM episode WHERE state = 'shown'")]
        return tuple(sorted(moment.ordinal for moment in self._on_mainline(shas).values()))

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
        return self._named(name, "state = 'forgotten'" if hidden else "state <> 'forgotten'")

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
        among = "true" if hidden is None else "state = 'forgotten'" if hidden else "state <> 'forgotten'"
        whole = [storable(name.strip().lower()) for name in names]
        sql = f"SELECT id FROM episode WHERE {among} AND id IN (SELECT unnest(?))"  # noqa: S608 - our own words
        known = {row[0] for row in self.tables.rows(sql, [whole])}
        return tuple(dict.fromkeys(name if name in known else self._named(name, among) for name in whole))

    def _named(self, name: str, among: str) -> str:
        name = storable(name.strip().lower())
        newest = f"SELECT id FROM episode WHERE {among}"  # noqa: S608 - our own words
        if name == LAST:
            # What is archived is old, whatever the order of the rest.
            found = self.tables.rows(f"{newest} AND state <> 'archived' ORDER BY time DESC, seq DESC LIMIT 1")
        else:
            found = self.tables.rows(f"{newest} AND id = ?", [name])
        if not found and len(name) >= _SHORTEST_NAME:
            found = self.tables.rows(f"{newest} AND starts_with(id, ?)", [name])
        if not found:
            raise no_such(name)
        if len(found) > 1:
            raise UsageError(f"{count(len(found), 'episode')} begin with {name!r}.", hint="Give more of the id.")
        return str(found[0][0])

    # --- the mainline ---

    def _sha_of(self, ordinal: int) -> str | None:
        found = self._revisions.commits.at(ordinal)
        return found.sha if found else None

    def _on_mainline(self, shas: Iterable[str]) -> Mapping[str, CommitPoint]:
        """Return those of the commits that are on the mainline, by sha."""
        return self._revisions.commits.of_shas(set(shas) - {""}) if self._repository.git else {}

    def _laid(self, rows: Sequence[Episode]) -> Iterable[Episode]:
        """Yield episodes with the commits that they saw; each is looked for once."""
        places: dict[str, tuple[CommitPoint | None, str]] = {}
        on_mainline = self._on_mainline(one.sha for one in rows)
        for one in rows:
            if one.sha not in places:
                places[one.sha] = self._place(one.sha, on_mainline)
            moment, why = places[one.sha]
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
        self._revisions.commits.ensure()
        placed = next(iter(self._laid([episode])))
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)
