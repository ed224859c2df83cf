"""A turn of a session for miners: an episode, and the previous one in the same session."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cm_tui.engine.memory.projection.episode_record import EpisodeRecord

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.changes import Changes
    from cm_tui.engine.memory.narrator.runs import Run


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
