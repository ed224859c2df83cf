"""A project's pending batch jobs: a file next to the store, so that another process can fetch the results."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cm_tui.counts import count
from cm_tui.files import write_atomically
from cm_tui.model.dates import local_minute
from cm_tui.state_file import read_record

FILE = "batches.json"
_LONGEST = 200_000_000
MOST_FAILURES = 2
"""Consecutive jobs without a result; then texts are sent in plain requests."""
FORGIVEN_SECONDS = 3600.0
"""After that jobs are tried again."""


@dataclass(frozen=True, slots=True)
class PendingJob:
    """A job that was handed over."""

    id: str
    fingerprint: str
    """Of the model."""
    since: float
    """Seconds since the epoch."""
    names: tuple[str, ...]
    """Key of each text's vector."""


@dataclass(frozen=True, slots=True)
class BatchState:
    """Pending jobs, and failures."""

    jobs: tuple[PendingJob, ...] = ()
    failures: int = 0
    failed_at: float = 0.0
    reason: str = ""

    @property
    def gave_up(self) -> bool:
        """Return whether plain requests are sent instead for now."""
        return self.failures >= MOST_FAILURES and time.time() - self.failed_at < FORGIVEN_SECONDS

    def of(self, fingerprint: str) -> tuple[PendingJob, ...]:
        """Return the jobs of one model."""
        return tuple(job for job in self.jobs if job.fingerprint == fingerprint)

    def failing(self, reason: str, *, for_good: bool = False) -> BatchState:
        """Return the same with one more failure."""
        failures = MOST_FAILURES if for_good else min(self.failures, MOST_FAILURES) + 1
        return replace(self, failures=failures, failed_at=time.time(), reason=reason)

    def note(self, fingerprint: str) -> str:
        """Return the note on jobs where vectors are used; empty: none."""
        said = []
        if jobs := self.of(fingerprint):
            texts = count(sum(len(job.names) for job in jobs), "text")
            since = local_minute(min(job.since for job in jobs))
            said.append(f"{texts} in {count(len(jobs), 'batch job')} since {since}: an index run fetches the vectors.")
        if self.gave_up:
            said.append(f"Batch jobs failed, so plain requests are sent: {self.reason}")
        return " ".join(said)


def read(folder: Path) -> BatchState:
    """Return what was last noted; nothing where the file cannot be read: those texts are sent again."""
    return read_record(folder / FILE, BatchState, _LONGEST) or BatchState()


def write(folder: Path, state: BatchState) -> None:
    """Note it. Raises OSError if it cannot be written."""
    if state == BatchState():
        (folder / FILE).unlink(missing_ok=True)
    else:
        write_atomically(folder / FILE, json.dumps(asdict(state)), durable=True)
