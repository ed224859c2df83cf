"""Progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cm_tui.model.imports import ImportSummary, RescueSummary
from cm_tui.model.narrator import NarratorReport

WAIT = "wait"
"""Stage of work that cannot begin yet; the message has what it waits for."""


@dataclass(frozen=True, slots=True)
class IndexSummary:
    """What an index run did; seconds by stage."""

    files: int
    blobs: int
    """Blobs parsed in this run."""
    symbols: int
    references: int
    passages: int
    embedded: int
    """Passages embedded in this run (those from the cache are not counted)."""
    skipped: Mapping[str, int]
    """Number of skipped files, by reason."""
    seconds: Mapping[str, float]
    changed: int = 0
    """Paths whose content differs from what the index held before."""
    mode: str = "hybrid"
    """What can be asked now: `hybrid`, or `keyword` with the cause in `notes`."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of long work: `done` of `total` in `stage`; the last one carries the summary."""

    stage: str
    """scan, parse, store, keywords, vectors, graph, names, done; backup, check, restore; wait."""
    done: int
    total: int
    message: str = ""
    summary: IndexSummary | None = None
    searchable: bool = False
    """True from the moment keyword and symbol queries answer."""
    imported: ImportSummary | None = None
    """What an import did, with its last step."""
    narrated: NarratorReport | None = None
    """What a pass of the narrator did, with its last step."""
    rescued: RescueSummary | None = None
    """What was copied of agents' transcripts, with the last step."""


Tell = Callable[[Progress], None]
"""Takes how far long work is."""


def ignore_progress(step: Progress) -> None:
    """Ignore the progress of long work."""
