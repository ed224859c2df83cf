"""What agents' sessions recorded, read from the journal and laid on the line."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from cm_tui.engine.git.repository import Repository
from cm_tui.engine.history.revisions import Revisions
from cm_tui.engine.journal import Event, Journal, Position
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CommitPoint, Episode, Page
from cm_tui.model.dates import day

LAST = "last"
"""Names the newest episode."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORTEST_NAME = 4
_NOT_RECORDED = "no commit was recorded: there was no git, or no commit yet"


@dataclass(frozen=True)
class _Kept:
    """An episode without its patch, and where the journal has it."""

    episode: Episode
    at: Position | None

    @cached_property
    def words(self) -> str:
        """What it is found by."""
        one = self.episode
        texts = (*one.prompts, one.answer, one.agent, one.session, *one.files, day(one.time), one.sha, one.id)
        return "\n".join(texts).lower()


class Episodes:
    """The episodes of one project. Patches stay in the journal: what is kept in memory is small.

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
        self._asked: set[tuple[str, str]] = set()
        """Checkouts and sessions with a prompt since they last stopped."""
        self._stopped: set[str] = set()
        """Stops after a prompt that nobody has made an episode of yet."""

    def page(self, match: str, before: str | None, limit: int) -> Page[Episode]:
        """Those that have every word, newest first.

        Raises:
            NotFoundError: there is no episode of the id `before`.
            StoreError: the journal cannot be read.
        """
        kept, line = self._read(), self._line()
        words = match.lower().split()
        found = [one for one in kept if all(_has(one, word, line) for word in words)]
        rest = found
        if before is not None:
            place = next((number for number, one in enumerate(kept) if one.episode.id == before), None)
            if place is None:
                raise _no_such(before)
            later = {one.episode.id for one in kept[: place + 1]}
            rest = [one for one in found if one.episode.id not in later]
        rows = tuple(self._placed(one.episode, line) for one in rest[: max(0, limit)])
        return Page(rows, len(found), self._note())

    def one(self, name: str) -> Episode:
        """An episode by its id, a beginning of it, or `last`.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
            StoreError: the journal cannot be read.
        """
        kept = self._named(name.strip().lower())
        event = next(self._journal.read(kept.at), None)
        if event is None or event.id != kept.episode.id:
            raise NotFoundError(f"The journal no longer has the episode {kept.episode.id}.")
        return self._replayed(replace(_episode(event), patch=_text(event.data.get("patch"))))

    def ordinals(self) -> tuple[int, ...]:
        """The commits of the line that agents saw."""
        self._read()
        return tuple(sorted(moment.ordinal for moment in self._line().values()))

    # --- the journal ---

    def _read(self) -> list[_Kept]:
        """All that there are by now, newest first."""
        with self._lock:
            for event in self._journal.read(self._at):
                self._take(event)
                self._at = event.position
            return self._kept[::-1]

    def _take(self, event: Event) -> None:
        who = (_text(event.data.get("root")), _text(event.data.get("session")))
        if event.kind == "hook.prompt":
            self._asked.add(who)
        elif event.kind == "hook.stop" and who in self._asked:
            self._asked.discard(who)
            self._stopped.add(event.id)
        elif event.kind == "episode":
            self._stopped.discard(_text(event.data.get("stop")))
            self._kept.append(_Kept(_episode(event), self._at))

    def _note(self) -> str:
        waiting = len(self._stopped)
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

    # --- the line ---

    def _line(self) -> Mapping[str, CommitPoint]:
        """The commits of all episodes that are on the line, by sha."""
        self._revisions.commits.ensure()
        with self._lock:
            shas = {one.episode.sha for one in self._kept}
        return self._revisions.commits.of_shas(shas) if self._repository.git else {}

    def _placed(self, episode: Episode, line: Mapping[str, CommitPoint]) -> Episode:
        moment = line.get(episode.sha)
        return replace(episode, moment=moment, why="" if moment else self._why(episode.sha))

    def _why(self, sha: str) -> str:
        """Why a commit that is not on the line cannot be stood at."""
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
        """With the nearest moment there is."""
        placed = self._placed(episode, self._line())
        if not episode.sha or not self._repository.git:
            return placed
        try:
            place = self._revisions.resolve(episode.sha)
        except NotFoundError:
            return placed
        return replace(placed, moment=place.moment, why=place.note)


def _episode(event: Event) -> Episode:
    """The record of an event, without its patch; what is not as expected is left out."""
    data = event.data
    head, base = (_sha(value) for value in (event.head, data.get("base")))
    return Episode(
        id=event.id,
        time=event.time,
        agent=_text(data.get("agent")),
        session=_text(data.get("session")),
        prompts=_texts(data.get("prompts")),
        answer=_text(data.get("answer")),
        files=_texts(data.get("files")),
        root=_text(data.get("root")),
        sha=base or head,
        head=head,
        moment=None,
        why="",
        patch_lines=len(_text(data.get("patch")).splitlines()),
        patch_cut=data.get("patch_cut") is True,
        redacted=data["redacted"] if isinstance(data.get("redacted"), int) else 0,
        note=_text(data.get("note")),
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _sha(value: Any) -> str:
    return value if isinstance(value, str) and _SHA.fullmatch(value) else ""


def _has(kept: _Kept, word: str, line: Mapping[str, CommitPoint]) -> bool:
    moment = line.get(kept.episode.sha)
    return word in kept.words or (moment is not None and word == f"#{moment.ordinal}")


def _no_such(name: str) -> NotFoundError:
    shown = name[:40].encode("ascii", "backslashreplace").decode()
    return NotFoundError(f"There is no episode {shown!r}.", hint="`cm episodes` lists them.")
