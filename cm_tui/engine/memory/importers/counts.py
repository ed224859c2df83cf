"""Results of an import so far."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from cm_tui.counts import count
from cm_tui.model import ImportSummary, TranscriptCounts

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
