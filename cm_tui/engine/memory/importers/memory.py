"""State of an import across the transcripts of one project."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui.engine.memory.importers.heads import Heads
from cm_tui.engine.memory.importers.known import Known
from cm_tui.engine.memory.importers.project import Found
from cm_tui.engine.memory.importers.state import ImportState, TranscriptState
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.memory.transcripts.turn import SessionFacts
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal

NAMED_IN_SESSION = frozenset({"codex"})
"""Agents whose turn names are unique only within a session, and whose sessions name the one that they continue."""


def naming_session(agent: str, session: str) -> str:
    """Return the session that qualifies a turn's name; empty if the name has a time, and so is the same in all copies."""
    return session if agent in NAMED_IN_SESSION or "/" in session else ""


@dataclass
class Memory:
    """State across the transcripts of one project."""

    root: Path
    journal: Journal
    state: ImportState
    known: Known
    gate: PastGate
    """Returns which turns must not be recorded."""
    holds: Callable[[SessionFacts], bool]
    """Returns whether a session is of this project."""
    taken: set[str] = field(default_factory=set)
    """Turns imported from any transcript, including erased ones."""
    stories: dict[str, str] = field(default_factory=dict)
    """Sessions by the ids of sessions and last records, for finding what a session continues."""
    numbers: dict[str, int] = field(default_factory=dict)
    """How many turns of a session are known."""
    written: tuple[Position, str] | None = None
    """The last event that was written."""
    _heads: dict[Path, Heads] = field(default_factory=dict)

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

    def has_taken(self, origin: str) -> bool:
        """Return whether a turn was imported from any transcript, even if erased since."""
        return origin in self.taken or self.known.was_erased(origin)

    def reach(self, session: str, number: int) -> None:
        """Note that a session has so many turns at least."""
        self.numbers[session] = max(number, self.numbers.get(session, 0))

    def forget(self, origin: str) -> None:
        """Drop a turn that could not be written: the next import takes it."""
        self.taken.discard(origin)
        self.known.remove(origin)

    def heads(self, root: Path) -> Heads:
        """Return the commits of a checkout by time."""
        return self._heads.setdefault(root, Heads(root))

    def story_of(self, found: Found) -> str:
        """Return the session of a transcript: the earlier one if it continues that."""
        facts = found.facts
        if facts.parent or not facts.continues:
            return facts.session
        named = facts.continues if facts.agent in NAMED_IN_SESSION else facts.session
        return self.stories.get(facts.continues, named)
