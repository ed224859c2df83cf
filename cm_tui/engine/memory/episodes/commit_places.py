"""Places of the commits that episodes saw: on the mainline, off it, or nowhere, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from cm_tui.engine.code.history.revisions import Revisions
from cm_tui.engine.platform.git.commits import MissingError
from cm_tui.engine.platform.git.repository import Repository
from cm_tui.errors import NotFoundError
from cm_tui.model import CommitPoint, Episode

_NOT_RECORDED = "no commit was recorded: there was no git, or no commit yet"
_NONE_SO_EARLY = "no commit is known: it took place before the commits that this repository has, or without git"


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

    def laid(self, rows: Sequence[Episode]) -> Iterable[Episode]:
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
            return None, "this project has no git: its commits cannot be read"
        try:
            return self._revisions.point(self._repository.resolve(sha)), ""
        except (MissingError, NotFoundError):
            gone = "is not in this repository: it was rewritten and cleaned up, or made in another clone"
            return None, f"{sha[:10]} {gone}"

    def replayed(self, episode: Episode) -> Episode:
        """Return the episode with its moment, and a note where its commit is not on the mainline."""
        self.ensure()
        placed = next(iter(self.laid([episode])))
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)
