"""The episodes that agents' sessions recorded, read from the journal and laid on the mainline."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history.revisions import Revisions
from cm_tui.engine.journal import START, Event, Journal, Position
from cm_tui.engine.memory import episode_record
from cm_tui.engine.memory.episode_record import read_episode
from cm_tui.engine.memory.turns import Turns
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
        self._at: Position | None = None
        self._kept: list[_Kept] = []
        self._turns = Turns()

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
        kept = self._named(name.strip().lower())
        event = next(self._journal.read(kept.at), None)
        if event is None or event.id != kept.episode.id:
            raise NotFoundError(f"The journal no longer has the episode {kept.episode.id}.")
        return self._replayed(read_episode(event, patch=True))

    def ordinals(self) -> tuple[int, ...]:
        """Return the ordinals of the commits on the mainline that agents saw."""
        self._read()
        return tuple(sorted(moment.ordinal for moment in self._on_mainline().values()))

    # --- the journal ---

    def _read(self) -> list[_Kept]:
        """Return all that there are by now, newest first."""
        with self._lock:
            for event in self._journal.read(self._at):
                self._follow(event)
                self._at = event.position
            return self._kept[::-1]

    def _follow(self, event: Event) -> None:
        self._turns.follow(event, self._at or START)
        if event.kind == episode_record.KIND:
            self._kept.append(_Kept(read_episode(event, patch=False), self._at))

    def _note(self) -> str:
        waiting = self._turns.unrecorded
        turns = "turn of a session waits" if waiting == 1 else "turns of sessions wait"
        return f"{waiting:,} {turns} for the daemon, which records them." if waiting else ""

    def _named(self, name: str) -> _Kept:
        kept = self._read()
        if name == LAST and kept:
            return kept[0]
        found = [one for one in kept if one.episode.id == name]
        if not found and len(name) >= _SHORTEST_NAME:
            found = [one for one in kept if one.episode.id.startswith(name)]
        if not found:
            raise _no_such(name)
        if len(found) > 1:
            raise UsageError(f"{len(found):,} episodes begin with {name!r}.", hint="Give more of the id.")
        return found[0]

    # --- the mainline ---

    def _on_mainline(self) -> Mapping[str, CommitPoint]:
        """Return the commits of all episodes that are on the mainline, by sha."""
        self._revisions.commits.ensure()
        with self._lock:
            shas = {one.episode.sha for one in self._kept}
        return self._revisions.commits.of_shas(shas) if self._repository.git else {}

    def _placed(self, episode: Episode, on_mainline: Mapping[str, CommitPoint]) -> Episode:
        moment = on_mainline.get(episode.sha)
        return replace(episode, moment=moment, why="" if moment else self._why(episode.sha))

    def _why(self, sha: str) -> str:
        """Return why a commit is not on the mainline."""
        if not sha:
            return _NOT_RECORDED
        if not self._repository.git:
            return "this project has no git: its commits cannot be read"
        try:
            self._repository.resolve(sha)
        except NotFoundError:
            return f"{sha[:10]} is not in this repository: it was rewritten and cleaned up, or made in another clone"
        return f"{sha[:10]} is not on the first-parent line of HEAD"

    def _replayed(self, episode: Episode) -> Episode:
        """Return the episode with the nearest commit on the mainline."""
        placed = self._placed(episode, self._on_mainline())
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)


def _has(kept: _Kept, word: str, on_mainline: Mapping[str, CommitPoint]) -> bool:
    moment = on_mainline.get(kept.episode.sha)
    return word in kept.words or (moment is not None and word == f"#{moment.ordinal}")


def _no_such(name: str) -> NotFoundError:
    shown = name[:40].encode("ascii", "backslashreplace").decode()
    return NotFoundError(f"There is no episode {shown!r}.", hint="`cm episodes` lists them.")
