"""The import of one transcript: which of its turns are new, and how far it was read."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cm_tui.engine.importers.counts import Counts
from cm_tui.engine.importers.heads import Heads
from cm_tui.engine.importers.known import Known, Seen, origin_of
from cm_tui.engine.importers.lines import opened
from cm_tui.engine.importers.project import Found
from cm_tui.engine.importers.record import Session, record_of, shortened
from cm_tui.engine.importers.state import ImportState, TranscriptState, digests
from cm_tui.engine.importers.transcript import Named, Read, Resume, Skipped
from cm_tui.engine.importers.turn import Turn
from cm_tui.engine.journal import Journal, Position
from cm_tui.engine.memory import episode_record
from cm_tui.engine.memory.episode_record import EpisodeRecord
from cm_tui.engine.recording.gate import PastGate
from cm_tui.errors import UsageError

QUIET_SECONDS = 600.0
"""A turn that did not say that it is over counts as over when nothing was added for so long."""
_BATCH = 64
NAMED_IN_SESSION = frozenset({"codex"})
"""Agents whose turns have a name within their session alone, and whose sessions name the one that they go on with."""


@dataclass
class Memory:
    """What is known across the transcripts of one project."""

    root: Path
    journal: Journal
    state: ImportState
    known: Known
    gate: PastGate
    """Says which turns are not to be recorded."""
    taken: set[str] = field(default_factory=set)
    """Turns that were taken from any transcript, also those that were erased since."""
    stories: dict[str, str] = field(default_factory=dict)
    """Sessions by what others go on behind: ids of sessions, and of last records."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How many turns of a session are known."""
    written: tuple[Position, str] | None = None
    """The last event that was written."""
    _heads: dict[Path, Heads] = field(default_factory=dict)

    def add_state(self, state: TranscriptState) -> None:
        """Take in how far a transcript was read."""
        self.taken.update(state.origins)
        if state.session:
            self.stories[state.leaf] = state.session
            self.stories.setdefault(state.own, state.session)
            self.numbers[state.session] = max(state.recorded, self.numbers.get(state.session, 0))

    def heads(self, root: Path) -> Heads:
        """Return the commits of a checkout by time."""
        return self._heads.setdefault(root, Heads(root))

    def story_of(self, found: Found) -> str:
        """Return the session that a transcript tells of: that of an earlier one, where it goes on with it."""
        facts = found.facts
        if facts.parent or not facts.continues:
            return facts.session
        named = facts.continues if facts.agent in NAMED_IN_SESSION else facts.session
        return self.stories.get(facts.continues, named)


class OneTranscript:
    """The import of one transcript.

    Args:
        memory: what is known.
        found: the transcript.
        done: counts what is done.
    """

    def __init__(self, memory: Memory, found: Found, done: Counts) -> None:
        self._memory = memory
        self._found = found
        self._done = done
        self._state = state = found.state
        if found.is_other:
            self._state = state = TranscriptState(found.transcript.name, origins=state.origins)
            done.note(f"{found.transcript.name} was truncated or replaced: it is read from its beginning")
        self._own = set(state.origins)
        self._resume = Resume(state.offset, state.turns, dict(state.marks))
        self._story = state.session or memory.story_of(found)
        self._title = found.facts.title or memory.known.title_of(self._story)
        self._batch: list[tuple[EpisodeRecord, str]] = []
        self._waiting: list[Read] = []

    def run(self) -> Iterator[None]:
        """Take its turns, and keep how far that went; stops between batches.

        Raises:
            OSError: it has gone, or cannot be read.
            StoreError: the journal cannot be written.
        """
        found, began = self._found, self._resume.offset
        self._done.transcripts += 1
        for item in found.format.read(found.transcript, found.facts, self._resume):
            if isinstance(item, Named):
                self._title = item.title
            elif isinstance(item, Skipped):
                self._skip(item)
            elif not self._take(item):
                self._waiting.append(item)
            if len(self._batch) >= _BATCH:
                self._write()
                yield
        self._write()
        self._done.bytes += found.transcript.size if found.transcript.session else max(0, self._resume.offset - began)
        self._done.waiting += sum(not item.turn.is_empty for item in self._waiting)
        self._keep()

    def _skip(self, item: Skipped) -> None:
        if item.at >= self._state.counted:
            self._done.skip(f"{self._found.transcript.agent}: {item.kind}", broken=item.is_broken)
            self._state.count(item.kind, item.at, broken=item.is_broken)

    # --- one turn ---

    def _take(self, item: Read) -> bool:
        """Take a turn, unless it is known; False: it has to be looked at again."""
        turn = item.turn
        if item.is_last and (turn.is_empty or not self._is_over(turn)):
            return False
        if turn.is_empty:
            return True
        session, parent = self._sessions_of(item)
        origin = self._origin(turn, session)
        earlier = self._memory.known.session_of(origin)
        if earlier is not None and not parent:
            # What is repeated here was read elsewhere: what follows goes on with that session.
            self._story = earlier
        if earlier is not None or origin in self._memory.taken or self._is_of_parent(turn, parent):
            self._pass_by(origin)
            return True
        seen = "" if parent else self._seen(turn)
        if seen == "waiting" and time.time() - (turn.ended or self._found.transcript.stamp) < QUIET_SECONDS:
            # The daemon is about to record it, with its patch.
            return False
        if seen in {"recorded", "erased"}:
            self._memory.numbers[session] = self._memory.numbers.get(session, 0) + 1
            self._pass_by(origin)
        elif self._why_not(turn):
            self._done.withheld += 1
        else:
            self._record(turn, session, parent, origin)
        return True

    def _why_not(self, turn: Turn) -> str:
        facts = self._found.facts
        # A sub-agent works in the name of the session that started it.
        session = facts.parent or facts.session
        return self._memory.gate.why_not(session, (turn.began, turn.ended), folder=turn.folder or facts.folder)

    def _is_over(self, turn: Turn) -> bool:
        return turn.is_over or time.time() - self._found.transcript.stamp > QUIET_SECONDS

    def _sessions_of(self, item: Read) -> tuple[str, str]:
        """Return the session of a turn, and the one that started it."""
        if item.session:
            return item.session, self._story
        parent = self._found.facts.parent
        return self._story, self._memory.stories.get(parent, parent)

    def _origin(self, turn: Turn, session: str) -> str:
        # The name of a turn of the others holds its time: copies in files of other sessions have the same.
        agent = self._found.transcript.agent
        return origin_of(agent, session if agent in NAMED_IN_SESSION or "/" in session else "", turn.key)

    def _is_of_parent(self, turn: Turn, parent: str) -> bool:
        """Return whether a sub-agent's transcript begins with what its parent was told."""
        return (
            bool(parent)
            and self._found.transcript.agent in NAMED_IN_SESSION
            and (
                self._origin(turn, parent) in self._memory.taken
                or self._memory.known.session_of(self._origin(turn, parent)) is not None
            )
        )

    def _seen(self, turn: Turn) -> Seen:
        if not turn.prompts:
            return ""
        return self._memory.known.seen(self._found.facts.session, turn.prompts[0].text, turn.began)

    def _pass_by(self, origin: str) -> None:
        if origin not in self._own:
            self._remember(origin)
            self._done.known += 1

    def _remember(self, origin: str) -> None:
        self._memory.taken.add(origin)
        self._own.add(origin)
        self._state.origins.append(origin)

    def _record(self, turn: Turn, session: str, parent: str, origin: str) -> None:
        memory, place = self._memory, self._found.place
        memory.numbers[session] = number = memory.numbers.get(session, 0) + 1
        root = memory.root if place.was_moved else place.root
        facts = Session(self._found.transcript.agent, session, parent, self._title, place.root, root)
        self._batch.append(record_of(turn, facts, origin=origin, number=number, heads=memory.heads(root)))
        self._remember(origin)
        memory.known.add(origin, session)
        self._done.sessions.add(session)

    # --- writing ---

    def _write(self) -> None:
        """Write what was taken; what is too long for the journal is shortened."""
        batch, self._batch = self._batch, []
        try:
            events = self._memory.journal.append_all(episode_record.KIND, _data(batch))
        except UsageError:
            events = self._memory.journal.append_all(
                episode_record.KIND, _data([(shortened(record), head) for record, head in batch])
            )
        if events:
            self._memory.written = (events[-1].position, events[-1].id)
        self._done.episodes += len(events)
        self._done.redacted += sum(int(event.data.get("redacted", 0)) for event in events)

    def _keep(self) -> None:
        """Keep how far it was read: up to the first turn that is to be looked at again."""
        state, memory, found = self._state, self._memory, self._found
        first = min(self._waiting, key=lambda item: item.start, default=None)
        state.offset = self._resume.offset if first is None else first.start
        state.turns = self._resume.turns if first is None else first.number
        state.counted = max(state.counted, self._resume.offset)
        state.waits = any(not item.turn.is_empty for item in self._waiting)
        state.marks, state.leaf = self._resume.marks, str(self._resume.marks.get("last", ""))
        state.session, state.own = self._story, found.facts.session
        state.recorded = memory.numbers.get(self._story, 0)
        state.size, state.stamp = found.transcript.size, found.transcript.stamp
        if found.transcript.session:
            state.offset = 0
        else:
            with opened(found.transcript.file) as stream:
                state.head, state.tail = digests(stream, state.offset)
        memory.add_state(state)
        memory.state.save(state, memory.written or memory.known.last)


def _data(batch: list[tuple[EpisodeRecord, str]]) -> list[tuple[Mapping[str, Any], str | None]]:
    return [(record.to_event_data(), head or None) for record, head in batch]
