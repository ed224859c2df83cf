"""Turns already in a journal: recorded by a hook, by an import, or erased."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import ids_of
from cm_tui.engine.memory.transcripts.turn import PROMPT_CHARACTERS, Turn
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import ERASED, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact

Seen = Literal["", "recorded", "waiting", "erased"]
"""What hooks have of a turn; empty: nothing."""
UNKNOWN = "transcript.unknown"
"""Kind of the events that hold a record which is not understood."""
_ABOUT_EPISODES = f"{episode_record.KIND}."
"""Prefix of the kinds of events that edit episodes: an import no longer hides an edited one."""
_WORDS = 200
"""Characters of a prompt by which it is known again."""
_NEAR_SECONDS = 600.0
"""A prompt that was typed while the agent worked reaches hook and transcript at different times."""
_ERASED_SECONDS = 5.0
"""Nothing but the time is left of a prompt that was erased."""


@dataclass(slots=True)
class _RecordedPrompt:
    """A prompt that a hook wrote down."""

    words: str
    time: float
    stop: str = ""
    """Id of the event that ended its turn."""
    is_recorded: bool = False


class JournalContent:
    """The content of a journal, updated as it grows."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._restart()

    def _restart(self) -> None:
        self._at: Position = START
        self._event = ""
        self._sessions: dict[str, str] = {}
        self._titles: dict[str, str] = {}
        self._by_session: dict[str, set[str]] = {}
        self._asked: dict[str, list[_RecordedPrompt]] = {}
        self._erased: list[float] = []
        self._erased_turns: set[str] = set()
        self._numbers: dict[str, int] = {}
        """Places of imported turns in their sessions."""
        self._unanswered: dict[str, str] = {}
        """Ids of the episodes without an answer that are shown, by their origins."""

    def refresh(self) -> None:
        """Read on. Raises StoreError if the journal cannot be read."""
        if not self._journal.holds(self._at, self._event):
            self._restart()
        if not self._event:
            # What moved there has left the journal but for its name.
            self._read_archive()
        for event in self._journal.read(self._at):
            self.follow(event)
            self._at, self._event = event.position, event.id

    def _read_archive(self) -> None:
        archive = Archive(self._journal)
        for number in archive.files():
            for episode, turn in archive.whole(number):
                for event in (*turn, episode):
                    self.follow(event)

    @property
    def last(self) -> tuple[Position, str] | None:
        """Return the position and id of the event that was read last; None: no event yet."""
        return (self._at, self._event) if self._event else None

    def session_of(self, origin: str) -> str | None:
        """Return the session of an imported turn; None where it was not imported."""
        return self._sessions.get(origin)

    def origins_in(self, session: str) -> frozenset[str]:
        """Return the digests of the recorded turns of a session; empty: none."""
        return frozenset(self._by_session.get(session, ()))

    def number_of(self, origin: str) -> int:
        """Return the place of an imported turn in its session; 0 where it has none."""
        return self._numbers.get(origin, 0)

    def was_erased(self, origin: str) -> bool:
        """Return whether a turn was imported, and erased since."""
        return origin in self._erased_turns

    def title_of(self, session: str) -> str:
        """Return the title of a session at its last imported turn; empty: none."""
        return self._titles.get(session, "")

    def add(self, origin: str, session: str) -> None:
        """Note a turn that is being imported."""
        self._sessions[origin] = session

    def remove(self, origin: str) -> None:
        """Drop a turn that was to be imported."""
        self._sessions.pop(origin, None)

    def recorded_turn(self, session: str, prompt: str, began: float | None) -> Seen:
        """Return the turn as recorded by hooks.

        `session`: the agent's id for it; `prompt`: its first prompt; `began`: its time, if the transcript has it.
        """
        if began is not None and self._was_erased_then(began):
            return "erased"
        asked = self._asked.get(session)
        if not asked:
            return ""
        words = words_of(prompt)
        found = [one for one in asked if one.words == words]
        if began is not None:
            found = [one for one in found if abs(one.time - began) <= _NEAR_SECONDS]
            found.sort(key=lambda one: abs(one.time - began))
        if not found:
            return ""
        return "recorded" if found[0].is_recorded else "waiting"

    def _was_erased_then(self, time: float) -> bool:
        place = bisect_left(self._erased, time - _ERASED_SECONDS)
        return place < len(self._erased) and self._erased[place] <= time + _ERASED_SECONDS

    def unanswered(self, origin: str) -> str:
        """Return the id of an episode without an answer; empty: no such episode, or changed since."""
        return self._unanswered.get(origin, "")

    def episode_of(self, origin: str) -> str:
        """Return the id of an imported turn's episode, by reading the journal; empty: none.

        Raises StoreError if the journal cannot be read.
        """
        found = (event for event in self._journal.read() if event.kind == episode_record.KIND)
        return next((event.id for event in found if episode_record.origin_of(event) == origin), "")

    def follow(self, event: Event) -> None:
        """Take in an event."""
        if event.kind == "hook.prompt":
            asked = self._asked.setdefault(str(event.data.get("session", "")), [])
            asked.append(_RecordedPrompt(words_of(str(event.data.get("prompt", ""))), event.time))
        elif event.kind == "hook.stop":
            for one in reversed(self._asked.get(str(event.data.get("session", "")), [])):
                if one.stop:
                    break
                one.stop = event.id
        elif event.kind == episode_record.KIND:
            self._follow_episode(EpisodeRecord.from_event(event), event.id)
        elif event.kind == UNKNOWN and (origin := event.text("origin")):
            # It is no turn, and of no session.
            self._sessions[origin] = ""
        elif event.kind == ERASED and (origin := episode_record.origin_of(event)):
            self._erased_turns.add(origin)
            self._unanswered.pop(origin, None)
        elif event.kind.startswith(_ABOUT_EPISODES) and self._unanswered:
            named = ids_of(event)
            self._unanswered = {origin: id_ for origin, id_ in self._unanswered.items() if id_ not in named}
        elif event.kind == ERASED and event.data.get("kind") == "hook.prompt":
            place = bisect_left(self._erased, event.time)
            self._erased.insert(place, event.time)

    def _follow_episode(self, record: EpisodeRecord, id_: str) -> None:
        if record.origin:
            self._sessions[record.origin] = record.session
            self._numbers[record.origin] = record.turn
            if record.outcome == "unanswered":
                self._unanswered[record.origin] = id_
        self._by_session.setdefault(record.session, set()).add(record.origin)
        if record.title:
            self._titles[record.session] = record.title
        for one in self._asked.get(record.session, ()) if record.stop else ():
            one.is_recorded = one.is_recorded or one.stop == record.stop


def words_of(prompt: str) -> str:
    """Return the key of a prompt, the same for hooks and transcripts."""
    # A journal has it without secrets and cut; a transcript has all of it.
    clean = redact(prompt[: PROMPT_CHARACTERS // 4]).text
    return sha256(" ".join(clean.split())[:_WORDS].encode("utf-8", "replace")).hexdigest()[:16]


def origin_of_turn(agent: str, session: str, turn: Turn) -> str:
    """Return the digest that names a turn.

    `session`: its session; empty where the turn's key alone names it. `turn`: as it was read.
    """
    # Longer than in earlier versions, where names could collide.
    return origin_of(agent, session, turn.key) + ("02" if turn.earlier_key else "")


def origin_of(agent: str, session: str, key: str) -> str:
    """Return the digest of a turn, the same in all copies.

    `session`: its session; empty if the key is unique. `key`: the turn's name within it.
    """
    return sha256(f"{agent}\0{session}\0{key}".encode("utf-8", "replace")).hexdigest()[:32]
