"""Turns of agents' sessions: the current one, its first event, its stop, and its episode."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from cm_tui.counts import count, noun
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.engine.memory.projection.visibility import ids_of
from cm_tui.engine.platform.journal.event import ERASURE, RESTORED, Event, Position

# --- ended turns without an episode so far, stored with the position in the journal ---

_STOPS = 1_000


class WaitingTurns:
    """Sessions with a prompt that has no stop yet, and stops that have no episode.

    `text`: what `text` gave before.
    """

    def __init__(self, text: str = "{}") -> None:
        kept = json.loads(text)
        self._prompts: dict[str, list[str]] = kept.get("prompts", {})
        """Ids of the prompts of turns that are under way, by checkout and session."""
        self._stops: dict[str, None] = dict.fromkeys(kept.get("stops", ()))
        self._begins: dict[str, list[float]] = kept.get("begins", {})
        """Segment and offset at which turns that are under way began, and the time of their last event."""

    @property
    def text(self) -> str:
        """Return all of it as text."""
        return json.dumps({"prompts": self._prompts, "stops": list(self._stops), "begins": self._begins})

    @property
    def begin(self) -> Position | None:
        """Return where the first of the turns that are under way began; None: none is."""
        return min((Position(int(one[0]), int(one[1])) for one in self._begins.values()), default=None)

    @property
    def note(self) -> str:
        """Return a note on their number; empty: none."""
        waiting = len(self._stops)
        if not waiting:
            return ""
        return f"{count(waiting, 'turn of a session', 'turns of sessions')} {noun(waiting, 'waits', 'wait')} for the daemon to record them."

    def _note_begin(self, event: Event, before: Position) -> None:
        session = _session_key(event)
        if event.kind in {"hook.prompt", "hook.edit"} and event.data.get(RESTORED) is not True:
            begun = self._begins.pop(session, [*before, 0.0])
            self._begins[session] = [*begun[:2], event.time]
            since = event.time - FORGOTTEN_SECONDS
            kept = [(one, begin) for one, begin in self._begins.items() if begin[2] >= since]
            self._begins = dict(kept[-_SESSIONS:])
        elif event.kind == "hook.stop":
            self._begins.pop(session, None)

    def follow(self, event: Event, before: Position) -> None:
        """Take in an event. `before`: where the event before it ends."""
        self._note_begin(event, before)
        session = _session_key(event)
        if event.kind == "hook.prompt":
            self._prompts[session] = [*self._prompts.pop(session, []), event.id]
            self._prompts = dict(list(self._prompts.items())[-_SESSIONS:])
        elif event.kind == "hook.stop":
            if self._prompts.pop(session, None):
                self._stops[event.id] = None
                self._stops = dict.fromkeys(list(self._stops)[-_STOPS:])
        elif event.kind == "episode":
            self._stops.pop(str(event.data.get("stop", "")), None)
        elif event.kind == ERASURE:
            gone = ids_of(event)
            self._stops = {stop: None for stop in self._stops if stop not in gone}
            self._prompts = {one: ids for one, ids in self._prompts.items() if gone.isdisjoint(ids)}


def _session_key(event: Event) -> str:
    return json.dumps([str(event.data.get("root", "")), str(event.data.get("session", ""))])


# --- turns of agents' sessions ---

PROMPT_CHARACTERS = 8_000
"""Most characters of each prompt."""
UNDER_WAY = frozenset({"hook.prompt", "hook.edit", "hook.stop", ERASURE})
"""Kinds of the events that decide which turns are under way."""
FORGOTTEN_SECONDS = 86_400.0
"""A session silent for so long is given up when another event comes."""
_PROMPTS = 20
_FILES = 200
_SESSIONS = 500

Session = tuple[str, str]
"""Root of the checkout and id of the session."""


@dataclass
class Turn:
    """Prompts and edits of a session since it last stopped."""

    begin: Position
    """Behind the event before its first one: reading on from here yields all of it."""
    prompts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    base: str | None = None
    """The commit at the first prompt."""
    patch_before: str = ""
    """Digest of the patch that the session's episode before recorded."""
    first: float = 0.0
    """Time of the first event."""
    last: float = 0.0
    """Time of the last event."""
    events: list[str] = field(default_factory=list)
    """Ids of its prompts and edits."""

    def add(self, event: Event) -> None:
        """Add a prompt or an edit."""
        self.first = self.first or event.time
        self.last = event.time
        self.events.append(event.id)
        if event.kind == "hook.prompt":
            if not self.prompts:
                self.base = event.head
            self.prompts = [*self.prompts, str(event.data.get("prompt", ""))[:PROMPT_CHARACTERS]][-_PROMPTS:]
        elif event.kind == "hook.edit":
            paths = event.data.get("paths")
            new = [str(path) for path in paths if path not in self.files] if isinstance(paths, list) else []
            self.files = [*self.files, *new][-_FILES:]


class Turns:
    """All turns of a journal, from its events in their order.

    A turn begins with a prompt or an edit, ends with a stop, and is recorded by the episode that names the stop.
    `patches`: digests of the last patches, by session, as `patches` gave them before.
    """

    def __init__(self, patches: Mapping[Session, str] | None = None) -> None:
        self._under_way: dict[Session, Turn] = {}
        self._patches = dict(patches or {})
        self._recorded: set[str] = set()

    @property
    def begin(self) -> Position | None:
        """Return where the first of the turns that are under way began."""
        return min((turn.begin for turn in self._under_way.values()), default=None)

    @property
    def patches(self) -> dict[Session, str]:
        """Return digests of the last patches, by session."""
        return dict(list(self._patches.items())[-_SESSIONS:])

    @property
    def under_way(self) -> Collection[Turn]:
        """Return the turns that have not ended yet."""
        return self._under_way.values()

    def of(self, root: str, session: str) -> Turn | None:
        """Return the turn that is under way in a session; None: none is."""
        return self._under_way.get((root, session))

    def follow(self, event: Event, before: Position) -> Turn | None:
        """Take in an event; returns the turn that it ended. `event`: what happened."""
        session = (str(event.data.get("root", "")), str(event.data.get("session", "")))
        if event.kind in {"hook.prompt", "hook.edit"}:
            # Put last again: a session that never stops is the first to be forgotten.
            turn = self._under_way[session] = self._under_way.pop(session, Turn(before))
            turn.add(event)
            self._forget(event.time - FORGOTTEN_SECONDS)
        elif event.kind == "hook.stop":
            turn = self._under_way.pop(session, Turn(before))
            turn.patch_before = self._patches.get(session, "")
            return turn
        elif event.kind == episode_record.KIND:
            self._record(EpisodeRecord.from_event(event), session)
        elif event.kind == ERASURE:
            self._erase(ids_of(event))
        return None

    def is_recorded(self, stop: Event) -> bool:
        """Return whether a stop's episode was among the events, or the stop was erased."""
        return stop.id in self._recorded

    def _record(self, record: EpisodeRecord, session: Session) -> None:
        self._recorded.add(record.stop)
        before_this = self._patches.pop(session, "")
        self._patches[session] = record.patch_digest or before_this

    def _erase(self, ids: frozenset[str]) -> None:
        """Drop erased turns, each of which is erased whole; an erased stop gets no episode."""
        self._recorded |= ids
        self._under_way = {session: turn for session, turn in self._under_way.items() if ids.isdisjoint(turn.events)}

    def _forget(self, since: float) -> None:
        while True:
            session, turn = next(iter(self._under_way.items()))
            if turn.last >= since and len(self._under_way) <= _SESSIONS:
                return
            del self._under_way[session]
