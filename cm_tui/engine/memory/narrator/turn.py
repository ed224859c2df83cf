"""A turn of a session for miners: an episode, and the previous one in the same session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord
from cm_tui.model import FactKind

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.changes import Changes
    from cm_tui.engine.memory.narrator.runs import Run


@dataclass(frozen=True, slots=True)
class Observation:
    """One statement or habit in a turn."""

    kind: FactKind
    subject: str
    """Its subject, normalised: observations of one subject are compared with each other."""
    claim: str
    """Its claim on that, normalised: observations with the same subject and claim are the same fact."""
    text: str
    """The fact as it would be written: one line of Markdown."""
    quote: str
    """The words, or the command, as the turn has them."""
    weight: float = 1.0
    """Its plainness, from 0 to 1: higher for `always use X` than for a command that was run."""
    opposes: bool = False
    """It is evidence against the claim: the command failed, the person took it back."""
    terms: tuple[str, ...] = ()
    """Words that carry the meaning, stemmed; empty: claims are compared letter by letter, and nothing is clustered."""
    scope: Literal["user", "project"] = "project"
    speaker: str = ""
    """Its author, if several people work on the project; empty: unknown."""


class Miner(Protocol):
    """Finds one kind of fact. It is stateless: earlier turns of the session are in `turn.before`."""

    @property
    def name(self) -> str:
        """Return its name."""

    def look(self, turn: Turn) -> Iterable[Observation]:
        """Return the observations of a turn."""


@dataclass(frozen=True)
class Turn:
    """One episode, whole."""

    id: str
    time: float
    """When it ended: seconds since the epoch."""
    record: EpisodeRecord
    before: Turn | None = None
    """The one before in its session; it has none before itself."""

    @property
    def session(self) -> str:
        """Return what names its session: agent and id; its own id where it has none."""
        return f"{self.record.agent}/{self.record.session}" if self.record.session else self.id

    @cached_property
    def statements(self) -> tuple[str, ...]:
        """Return the user's own sentences: nothing quoted, pasted, fenced, or from a tool."""
        from cm_tui.engine.memory.narrator.own_words import sentences_of

        return sentences_of(self.record)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Return the commands run in it, without those that only look around."""
        from cm_tui.engine.memory.narrator.runs import runs_of

        return runs_of(self.record)

    @cached_property
    def changes(self) -> Changes:
        """Return the files that it changed and made."""
        from cm_tui.engine.memory.narrator.changes import changes_of

        return changes_of(self.record, None if self.before is None else self.before.record)
