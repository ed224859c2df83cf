"""What is known during an import: turns in the journal, and the state across a project's transcripts."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from cm_tui.counts import count
from cm_tui.engine.memory.importers.project import Found, ProjectTranscripts
from cm_tui.engine.memory.importers.record import Heads
from cm_tui.engine.memory.importers.state import TranscriptState
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, REPLACED_BY, ids_of
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.memory.transcripts.turn import PROMPT_CHARACTERS, Turn
from cm_tui.engine.platform.journal.archive import Archive
from cm_tui.engine.platform.journal.event import ERASED, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import ImportSummary, TranscriptCounts

# --- turns already in a journal: recorded by a hook, by an import, or erased ---

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
        self.sessions: dict[str, str] = {}
        """Sessions of imported turns by their origins; empty: a record of no session."""
        self.titles: dict[str, str] = {}
        """Titles of sessions at their last imported turns."""
        self.by_session: dict[str, set[str]] = {}
        """Origins of the recorded turns of a session."""
        self.erased: set[str] = set()
        """Origins of turns that were imported, and erased since."""
        self.numbers: dict[str, int] = {}
        """Places of imported turns in their sessions, by their origins."""
        self.unanswered: dict[str, str] = {}
        """Ids of the episodes without an answer that are shown and unchanged, by their origins."""
        self._asked: dict[str, list[_RecordedPrompt]] = {}
        self._erased_prompts: list[float] = []
        """Times of erased prompts, in order."""

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
        place = bisect_left(self._erased_prompts, time - _ERASED_SECONDS)
        return place < len(self._erased_prompts) and self._erased_prompts[place] <= time + _ERASED_SECONDS

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
            self.sessions[origin] = ""
        elif event.kind == ERASED and (origin := episode_record.origin_of(event)):
            self.erased.add(origin)
            self.unanswered.pop(origin, None)
        elif event.kind.startswith(_ABOUT_EPISODES) and self.unanswered:
            named = ids_of(event)
            self.unanswered = {origin: id_ for origin, id_ in self.unanswered.items() if id_ not in named}
        elif event.kind == ERASED and event.data.get("kind") == "hook.prompt":
            insort(self._erased_prompts, event.time)

    def _follow_episode(self, record: EpisodeRecord, id_: str) -> None:
        if record.origin:
            self.sessions[record.origin] = record.session
            self.numbers[record.origin] = record.turn
            if record.outcome == "unanswered":
                self.unanswered[record.origin] = id_
        self.by_session.setdefault(record.session, set()).add(record.origin)
        if record.title:
            self.titles[record.session] = record.title
        for one in self._asked.get(record.session, ()) if record.stop else ():
            one.is_recorded = one.is_recorded or one.stop == record.stop


def words_of(prompt: str) -> str:
    """Return the key of a prompt, the same for hooks and transcripts."""
    # A journal has it without secrets and cut; a transcript has all of it.
    clean = redact(prompt[: PROMPT_CHARACTERS // 4]).text
    return sha256(" ".join(clean.split())[:_WORDS].encode("utf-8", "replace")).hexdigest()[:16]


def origin_of_turn(agent: str, session: str, turn: Turn) -> str:
    """Return the digest that names a turn. `session`: its session; `turn`: as it was read."""
    # Longer than in earlier versions, where names could collide.
    return origin_of(agent, naming_session(agent, session), turn.key) + ("02" if turn.earlier_key else "")


def origin_of(agent: str, session: str, key: str) -> str:
    """Return the digest of a turn, the same in all copies.

    `session`: its session; empty if the key is unique. `key`: the turn's name within it.
    """
    return sha256(f"{agent}\0{session}\0{key}".encode("utf-8", "replace")).hexdigest()[:32]


# --- state of an import across the transcripts of one project, and the prompts without an answer among them ---

NAMED_IN_SESSION = frozenset({"codex"})
"""Agents whose turn names are unique only within a session, and whose sessions name the one that they continue."""


def naming_session(agent: str, session: str) -> str:
    """Return the session that qualifies a turn's name; empty if the name has a time, and so is the same in all copies."""
    return session if agent in NAMED_IN_SESSION or "/" in session else ""


@dataclass
class Memory:
    """State across the transcripts of one project."""

    project: ProjectTranscripts
    known: JournalContent
    gate: PastGate
    """Returns which turns must not be recorded."""
    taken: set[str] = field(default_factory=set)
    """Turns imported from any transcript, including erased ones."""
    stories: dict[str, str] = field(default_factory=dict)
    """Sessions by the ids of sessions and last records, for finding what a session continues."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How many turns of a session are known."""
    written: tuple[Position, str] | None = None
    """The last event that was written."""
    heads: Callable[[Path], Heads] = field(default_factory=lambda: cache(Heads))
    """Returns the commits of a checkout by time."""

    def add_state(self, state: TranscriptState) -> None:
        """Take in how far a transcript was read."""
        self.taken.update(state.origins)
        if state.session:
            # Only some formats have ids for the last record; without one, reading does not resume there.
            if state.leaf:
                self.stories[state.leaf] = state.session
            if state.own:
                self.stories.setdefault(state.own, state.session)
            self.reach(state.session, state.recorded)

    def has_imported(self, origin: str) -> bool:
        """Return whether a turn was imported from any transcript, even if erased since."""
        return origin in self.taken or origin in self.known.erased

    def is_imported(self, origin: str) -> bool:
        """Return whether a turn is in the journal, or was imported before."""
        return self.has_imported(origin) or origin in self.known.sessions

    def reach(self, session: str, number: int) -> None:
        """Note that a session has so many turns at least."""
        self.numbers[session] = max(number, self.numbers.get(session, 0))

    def forget(self, origin: str) -> None:
        """Drop a turn that could not be written: the next import takes it."""
        self.taken.discard(origin)
        self.known.sessions.pop(origin, None)

    def story_of(self, found: Found) -> str:
        """Return the session of a transcript: the earlier one if it continues that."""
        facts = found.facts
        if facts.parent or not facts.continues:
            return facts.session
        named = facts.continues if facts.agent in NAMED_IN_SESSION else facts.session
        return self.stories.get(facts.continues, named)


class Unanswered:
    """The unanswered prompts of one transcript, including those answered after they were recorded.

    `memory`: state of the import.
    """

    def __init__(self, memory: Memory, agent: str) -> None:
        self._memory = memory
        self._agent = agent
        self._replaced: list[tuple[Sequence[str], str]] = []
        """Names of turns that were recorded, each with the name of the turn that takes their place."""

    def origins(self, turn: Turn, session: str) -> list[str]:
        """Return the digests of a turn while it has no answer, after each of its prompts."""
        return [self._origin(key, session) for key in turn.unanswered_keys]

    def mark(self, turn: Turn, session: str) -> str:
        """Return the stored digest of an answered turn, if its name depends on the answer."""
        return self._origin(f"{turn.asked_key or turn.key} answered", session)

    def is_answered(self, turn: Turn, session: str, origin: str) -> bool:
        """Return whether a turn without an answer has one in another transcript.

        `origin`: names it where the answer is no part of its name.
        """
        return any(self._memory.is_imported(one) for one in (origin, self.mark(turn, session)))

    def replace(self, turn: Turn, session: str, asked: Sequence[str], origin: str) -> None:
        """Replace turns recorded before the answer, without prompts that were erased there.

        `asked`: the names of those, after each prompt.
        """
        erased = (number for number, one in enumerate(asked, 1) if one in self._memory.known.erased)
        del turn.prompts[: max(erased, default=0)]
        queued = (self._origin(key, session) for key in turn.replaces)
        before = [one for one in (*asked, *queued) if one != origin and self._memory.is_imported(one)]
        if before:
            self._replaced.append((before, origin))

    def number_of(self, asked: Sequence[str]) -> int:
        """Return the place in its session of the turn that is replaced; 0 where none is."""
        numbers = (self._memory.known.numbers.get(one, 0) for one in reversed(asked))
        return next(filter(None, numbers), 0)

    def hide(self, written: Iterable[Event]) -> None:
        """Hide the episodes whose place others have taken.

        `written`: the episodes that were recorded just now. Raises StoreError if the journal cannot be read or written.
        """
        memory, ids = self._memory, dict[object, str]()
        for event in written:
            ids[event.data.get("origin")] = event.id
            if event.data.get("outcome") == "unanswered":
                memory.known.follow(event)
        replaced, self._replaced = self._replaced, []
        for before, origin in replaced:
            hidden = [id_ for one in before if (id_ := memory.known.unanswered.get(one))]
            if hidden:
                # An import that was killed, or a hook, may have recorded it earlier.
                by = ids.get(origin) or memory.known.episode_of(origin)
                reason = f"its prompts are part of episode {by}" if by else "its prompts are part of a later episode"
                data = {"actor": "import", "ids": hidden, "reason": reason, REPLACED_BY: by}
                event = memory.project.journal.append(FORGOTTEN, data)
                memory.known.follow(event)
                memory.written = (event.position, event.id)

    def _origin(self, key: str, session: str) -> str:
        return origin_of(self._agent, naming_session(self._agent, session), key)


# --- results of an import so far ---

_NOTES = 20
KINDS = 100
"""So many kinds of records are counted each by itself."""
OTHERS = "others"
"""Collective kind for counting."""


@dataclass
class Counts:
    """Counts, and messages for the user."""

    transcripts: int = 0
    episodes: int = 0
    known: int = 0
    waiting: int = 0
    withheld: int = 0
    redacted: int = 0
    bytes: int = 0
    kept: int = 0
    unanswered: int = 0
    looked_at: TranscriptCounts = field(default_factory=TranscriptCounts)
    sessions: set[str] = field(default_factory=set)
    unknown: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _more: set[str] = field(default_factory=set)
    """Notes beyond the shown ones."""

    def note(self, text: str) -> None:
        """Add a message; of many, keep the first ones and count the rest."""
        if text in self.notes:
            return
        if len(self.notes) < _NOTES:
            self.notes.append(text)
        else:
            self._more.add(text)

    def skip(self, name: str, *, broken: bool) -> None:
        """Count a record that was not taken."""
        counts = self.broken if broken else self.unknown
        name = name if name in counts or len(counts) < KINDS else OTHERS
        counts[name] = counts.get(name, 0) + 1

    def summary(self, seconds: float) -> ImportSummary:
        """Return all of it as a record. `seconds`: how long it took."""
        more = (f"{count(len(self._more), 'more note')} not shown",) if self._more else ()
        values: dict[str, Any] = {one.name: getattr(self, one.name, None) for one in fields(ImportSummary)}
        values |= {"sessions": len(self.sessions), "notes": (*self.notes, *more), "seconds": seconds}
        values |= {name: dict(sorted(values[name].items())) for name in ("unknown", "broken")}
        return ImportSummary(**values)
