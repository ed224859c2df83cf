"""Vectors of very many passages by batch jobs: submit, wait or leave for a later run, fetch and store."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cm_tui.counts import count
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.batch_jobs import FileJobs, InlineJobs, JobReport, batch_jobs_of
from cm_tui.engine.search.embed.endpoint_client import NotOfferedError
from cm_tui.engine.search.embed.provider import NotChosenError, Provider
from cm_tui.engine.search.embed.remote import RemoteProvider
from cm_tui.engine.search.vectors import cache
from cm_tui.engine.search.vectors.codec import pack
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.errors import ModelError, StoreError
from cm_tui.files import write_atomically
from cm_tui.model import Cancel
from cm_tui.model.dates import local_minute
from cm_tui.state_file import read_record

# --- a project's pending batch jobs: a file next to the store, so that another process can fetch the results ---

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


# --- vectors of very many passages by batch jobs ---

WORTH_A_JOB = 1_000
"""Texts; fewer are sent in plain requests, which take a minute or so."""
_AT_ONCE = 2_000
_SLICE_SECONDS = 0.2


class BatchFill:
    """The batch jobs of one model for one project. `folder`: of the file with pending jobs."""

    def __init__(
        self, db: Database, folder: Path, index: VectorIndex, provider: RemoteProvider, jobs: FileJobs | InlineJobs
    ) -> None:
        self._db = db
        self._folder = folder
        self._index = index
        self._provider = provider
        self._jobs = jobs
        self._state = read(folder)

    @classmethod
    def of(cls, db: Database, folder: Path, index: VectorIndex, provider: Provider) -> BatchFill | None:
        """Return the jobs of a model; None: not configured, or not supported."""
        jobs = batch_jobs_of(provider)
        if jobs is None or not isinstance(provider, RemoteProvider):
            return None
        return cls(db, folder, index, provider, jobs)

    @property
    def waiting(self) -> frozenset[str]:
        """Return the names of texts that are in a job."""
        return frozenset(name for job in self._state.of(self._provider.fingerprint) for name in job.names)

    def keeps_the_rest(self) -> bool:
        """Return whether texts that are in no job yet are many enough to wait for one."""
        return not self._state.gave_up and len(self._index.unstored(self.waiting, WORTH_A_JOB)) >= WORTH_A_JOB

    def run(self, cancel: Cancel) -> Iterator[tuple[int, int]]:
        """Fetch results of jobs, submit more, and wait for them if configured.

        Yields (done, total) passages with a vector; first the initial state. Raises CancelledError if `cancel` was set;
        a later run fetches submitted jobs. ModelError: vectors do not fit the stored ones, or the settings name another
        model now. StoreError: pending jobs cannot be recorded.
        """
        settings = self._provider.settings.batch
        until = time.monotonic() + 60 * settings.timeout_minutes
        yield self._index.coverage()
        while True:
            cancel.check()
            if self._fetch():
                self._index.refresh()
            self._hand_over(settings.concurrency, cancel)
            yield self._index.coverage()
            if not settings.wait or not self._state.of(self._provider.fingerprint) or time.monotonic() >= until:
                return
            _pause(min(settings.poll_interval_seconds, max(0.0, until - time.monotonic())), cancel)

    def _fetch(self) -> bool:
        """Store what jobs have made that are done; returns whether one was."""
        fetched = False
        for job in self._state.of(self._provider.fingerprint):
            try:
                report = self._jobs.report(job.id)
            except NotChosenError:
                raise
            except NotOfferedError as error:
                self._keep(self._without(job).failing(self._reason(error.message)))
                continue
            except ModelError:
                # The job is not lost while the endpoint is unavailable.
                break
            if report.state == "running":
                continue
            self._take(job, report)
            self._jobs.tidy(report)
            fetched = True
        return fetched

    def _take(self, job: PendingJob, report: JobReport) -> None:
        stored, problem = 0, report.reason
        try:
            rows = [(number, row) for number, row in report.vectors.items() if 0 <= number < len(job.names)]
            for start in range(0, len(rows), _AT_ONCE):
                vectors: dict[str, bytes] = {}
                for number, row in rows[start : start + _AT_ONCE]:
                    problem = self._unit(vectors, job.names[number], row) or problem
                if vectors:
                    cache.store(self._db, self._provider.fingerprint, vectors)
                stored += len(vectors)
        finally:
            state = self._without(job)
            if stored:
                state = replace(state, failures=0, failed_at=0.0, reason="")
            else:
                state = state.failing(self._reason(problem or "a job gave no vectors"))
            self._keep(state)

    def _unit(self, vectors: dict[str, bytes], name: str, row: Any) -> str:
        """Add a vector in its stored form; return why it is invalid."""
        try:
            vectors[name] = pack(self._provider.unit([row], 1))[0].tobytes()
        except ModelError as error:
            return error.message
        return ""

    def _hand_over(self, concurrency: int, cancel: Cancel) -> None:
        """Hand texts over until there are enough jobs, few texts are left, or jobs fail."""
        while len(self._state.of(self._provider.fingerprint)) < concurrency and not self._state.gave_up:
            cancel.check()
            texts = self._index.unstored(self.waiting, self._jobs.most_texts)
            if len(texts) < WORTH_A_JOB:
                return
            names, sent, size = [], [], 0
            for name, text in texts.items():
                sendable = self._provider.sendable(text)
                size += len(sendable.encode())
                if size > self._jobs.most_bytes:
                    break
                names.append(name)
                sent.append(sendable)
            try:
                job = PendingJob(self._jobs.submit(sent), self._provider.fingerprint, time.time(), tuple(names))
            except NotChosenError:
                raise
            except ModelError as error:
                offered = not isinstance(error, NotOfferedError)
                self._keep(self._state.failing(self._reason(error.message), for_good=not offered))
                continue
            self._keep(replace(self._state, jobs=(*self._state.jobs, job)))

    def _without(self, job: PendingJob) -> BatchState:
        return replace(self._state, jobs=tuple(other for other in self._state.jobs if other != job))

    def _keep(self, state: BatchState) -> None:
        self._state = state
        try:
            write(self._folder, state)
        except OSError as error:
            # Otherwise paid results would be lost silently.
            raise StoreError(
                f"Cannot save the batch jobs in {self._folder}: {error}", hint="Check the folder's permissions."
            ) from error

    def _reason(self, said: str) -> str:
        text = redact(said).text.rstrip(".")
        for secret in self._provider.endpoint.secrets:
            if len(secret) > 3:
                text = text.replace(secret, "…")
        return f"{text}."


def _pause(seconds: float, cancel: Cancel) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        cancel.check()
        time.sleep(min(left, _SLICE_SECONDS))
