"""State of an import across the transcripts of one project, and the prompts without an answer among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cm_tui.engine.memory.importers.known import JournalContent, origin_of
from cm_tui.engine.memory.importers.project import Found
from cm_tui.engine.memory.importers.record import Heads
from cm_tui.engine.memory.importers.state import ImportState, TranscriptState
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, REPLACED_BY
from cm_tui.engine.memory.recording.gate import PastGate
from cm_tui.engine.memory.transcripts.turn import SessionFacts, Turn
from cm_tui.engine.platform.journal.event import Event, Position
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
    known: JournalContent
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

    def has_imported(self, origin: str) -> bool:
        """Return whether a turn was imported from any transcript, even if erased since."""
        return origin in self.taken or self.known.was_erased(origin)

    def is_imported(self, origin: str) -> bool:
        """Return whether a turn is in the journal, or was imported before."""
        return self.has_imported(origin) or self.known.session_of(origin) is not None

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
        erased = (number for number, one in enumerate(asked, 1) if self._memory.known.was_erased(one))
        del turn.prompts[: max(erased, default=0)]
        queued = (self._origin(key, session) for key in turn.replaces)
        before = [one for one in (*asked, *queued) if one != origin and self._memory.is_imported(one)]
        if before:
            self._replaced.append((before, origin))

    def number_of(self, asked: Sequence[str]) -> int:
        """Return the place in its session of the turn that is replaced; 0 where none is."""
        numbers = (self._memory.known.number_of(one) for one in reversed(asked))
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
            hidden = [id_ for one in before if (id_ := memory.known.unanswered(one))]
            if hidden:
                # An import that was killed, or a hook, may have recorded it earlier.
                by = ids.get(origin) or memory.known.episode_of(origin)
                reason = f"its prompts are part of episode {by}" if by else "its prompts are part of a later episode"
                data = {"actor": "import", "ids": hidden, "reason": reason, REPLACED_BY: by}
                event = memory.journal.append(FORGOTTEN, data)
                memory.known.follow(event)
                memory.written = (event.position, event.id)

    def _origin(self, key: str, session: str) -> str:
        return origin_of(self._agent, naming_session(self._agent, session), key)
