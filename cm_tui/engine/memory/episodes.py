"""The episodes that agents' sessions recorded, read from the journal and laid on the mainline."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from cm_tui.counts import count
from cm_tui.engine.git.commits import MissingError
from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history.revisions import Revisions
from cm_tui.engine.journal import START, Event, Journal, Position
from cm_tui.engine.journal.event import ERASURE
from cm_tui.engine.memory import episode_record
from cm_tui.engine.memory.episode_record import read_episode
from cm_tui.engine.memory.turns import Turns
from cm_tui.engine.memory.visibility import Visibility
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CommitPoint, Episode, Page
from cm_tui.model.dates import day

LAST = "last"
"""Names the newest episode."""
_SHORTEST_NAME = 4
_NOT_RECORDED = "no commit was recorded: there was no git, or no commit yet"


@dataclass(frozen=True)
class _Kept:
    """An episode without its patch, and where the journal has it."""

    episode: Episode
    at: Position | None

    @cached_property
    def words(self) -> str:
        """Return the text that it is found by."""
        one = self.episode
        texts = (*one.prompts, one.answer, one.agent, one.session, *one.files, day(one.time), one.sha, one.id)
        return "\n".join(texts).lower()


class Episodes:
    """The episodes of one project. Patches stay in the journal: the rest is small enough to stay in memory.

    Args:
        journal: the project's.
        revisions: resolves names on the mainline of its store.
        repository: the checkout.
    """

    def __init__(self, journal: Journal, revisions: Revisions, repository: Repository) -> None:
        self._journal = journal
        self._revisions = revisions
        self._repository = repository
        self._lock = threading.Lock()
        self._begin_anew()

    def page(self, match: str, before: str | None, limit: int) -> Page[Episode]:
        """Return those that have every word, newest first.

        Raises:
            NotFoundError: there is no episode of the id `before`.
            StoreError: the journal cannot be read.
        """
        kept, on_mainline = self._read(), self._on_mainline()
        words = match.lower().split()
        found = [one for one in kept if all(_has(one, word, on_mainline) for word in words)]
        rest = found
        if before is not None:
            place = next((number for number, one in enumerate(kept) if one.episode.id == before), None)
            if place is None:
                raise _no_such(before)
            later = {one.episode.id for one in kept[: place + 1]}
            rest = [one for one in found if one.episode.id not in later]
        rows = tuple(self._placed(one.episode, on_mainline) for one in rest[: max(0, limit)])
        return Page(rows, len(found), self._note())

    def one(self, name: str) -> Episode:
        """Return an episode by its id, a beginning of it, or `last`.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        kept = _named(self._read(), name)
        event = next(self._journal.read(kept.at), None)
        if event is None or event.id != kept.episode.id:
            raise NotFoundError(f"The journal no longer has the episode {kept.episode.id}.")
        return self._replayed(read_episode(event, patch=True))

    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals of the commits on the mainline that agents saw."""
        self._read()
        return tuple(sorted(moment.ordinal for moment in self._on_mainline().values()))

    def named(self, name: str, *, forgotten: bool = False) -> str:
        """Return the id of an episode by a beginning of it, or `last`.

        Args:
            name: what was typed.
            forgotten: look among those that are hidden, instead of the others.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        return _named(self._read(forgotten=forgotten), name).episode.id

    # --- the journal ---

    def _begin_anew(self) -> None:
        self._at: Position | None = None
        self._event = ""
        """Id of the event that ends at that place."""
        self._kept: list[_Kept] = []
        self._turns = Turns()
        self._visibility = Visibility()

    def _read(self, *, forgotten: bool = False) -> list[_Kept]:
        """Return all that there are by now, newest first: those that are shown, or those that are forgotten."""
        with self._lock:
            if self._at is not None and not self._journal.holds(self._at, self._event):
                self._begin_anew()
            for event in self._journal.read(self._at):
                self._follow(event)
                self._at, self._event = event.position, event.id
            hidden = self._visibility.forgotten
            return [one for one in reversed(self._kept) if (one.episode.id in hidden) == forgotten]

    def _follow(self, event: Event) -> None:
        self._turns.follow(event, self._at or START)
        self._visibility.follow(event)
        if event.kind == episode_record.KIND:
            self._kept.append(_Kept(read_episode(event, patch=False), self._at))
        elif event.kind == ERASURE:
            erased = self._visibility.erased
            self._kept = [one for one in self._kept if one.episode.id not in erased]

    def _note(self) -> str:
        waiting = self._turns.unrecorded
        turns = "turn of a session waits" if waiting == 1 else "turns of sessions wait"
        return f"{waiting:,} {turns} for the daemon, which records them." if waiting else ""

    # --- the mainline ---

    def _on_mainline(self) -> Mapping[str, CommitPoint]:
        """Return the commits of all episodes that are on the mainline, by sha."""
        self._revisions.commits.ensure()
        with self._lock:
            hidden = self._visibility.forgotten
            shas = {one.episode.sha for one in self._kept if one.episode.id not in hidden}
        return self._revisions.commits.of_shas(shas) if self._repository.git else {}

    def _placed(self, episode: Episode, on_mainline: Mapping[str, CommitPoint]) -> Episode:
        moment = on_mainline.get(episode.sha)
        if moment is not None:
            return replace(episode, moment=moment, why="")
        if not episode.sha:
            return replace(episode, moment=None, why=_NOT_RECORDED)
        if not self._repository.git:
            return replace(episode, moment=None, why="this project has no git: its commits cannot be read")
        try:
            return replace(episode, moment=self._revisions.point(self._repository.resolve(episode.sha)), why="")
        except (MissingError, NotFoundError):
            gone = "is not in this repository: it was rewritten and cleaned up, or made in another clone"
            return replace(episode, moment=None, why=f"{episode.sha[:10]} {gone}")

    def _replayed(self, episode: Episode) -> Episode:
        """Return the episode with what has to be said of its commit."""
        placed = self._placed(episode, self._on_mainline())
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)


def _named(kept: Sequence[_Kept], name: str) -> _Kept:
    name = name.strip().lower()
    if name == LAST and kept:
        return kept[0]
    found = [one for one in kept if one.episode.id == name]
    if not found and len(name) >= _SHORTEST_NAME:
        found = [one for one in kept if one.episode.id.startswith(name)]
    if not found:
        raise _no_such(name)
    if len(found) > 1:
        raise UsageError(f"{count(len(found), 'episode')} begin with {name!r}.", hint="Give more of the id.")
    return found[0]


def _has(kept: _Kept, word: str, on_mainline: Mapping[str, CommitPoint]) -> bool:
    moment = on_mainline.get(kept.episode.sha)
    return word in kept.words or (moment is not None and word == f"#{moment.ordinal}")


def _no_such(name: str) -> NotFoundError:
    shown = name[:40].encode("ascii", "backslashreplace").decode()
    return NotFoundError(f"There is no episode {shown!r}.", hint="`cm episodes` lists them.")
