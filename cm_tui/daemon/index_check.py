"""The daemon's side of the freshness policy: runs are jobs, and a sync follows the files."""

from __future__ import annotations

import time
from pathlib import Path

from cm_tui.daemon.jobs import Job
from cm_tui.daemon.long_work import REFRESH, LongWork
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.sync_manager import SyncManager
from cm_tui.errors import CmError


class IndexCheck:
    """One project's index as the policy sees it (`freshness.policy.CheckedIndex`).

    `pool`: where its engine is opened; `work`: where its runs queue; `syncs`: what follows its files; `wait_s`: how
    long all of this may take a question.
    """

    def __init__(self, where: ProjectRef, pool: ProjectPool, work: LongWork, syncs: SyncManager, wait_s: float) -> None:
        self._until = time.monotonic() + wait_s
        self._where = where
        self._pool = pool
        self._work = work
        self._syncs = syncs
        self._root, self._store = pool.locate(where)

    @property
    def root(self) -> Path:
        """Return the project's root folder."""
        return self._root

    def run_under_way(self) -> str | None:
        """Return what is to be said of an answer while a run of this checkout is on; None when none is."""
        for job in self._work.own_jobs(self._root, self._store):
            if job.state == "running":
                return "" if job.searchable else "An index run is under way; this is what was known before it."
        return None

    def stale_reason(self) -> str:
        """Return why the index does not reflect HEAD; nothing when it does.

        Raises NotIndexedError if there is no index yet.
        """
        with self._pool.acquire(self._where, create=False) as project:
            return project.engine.stale_reason()

    def bring_to_head(self, reason: str) -> str:
        """Wait until a run has brought the index up to HEAD; return a note, also when that failed."""
        job = self._work.refresh(self._where, lambda job: job.name == REFRESH)
        failure = self._wait_for(job, self._seconds_left)
        if not (job.searchable or job.is_over):
            return f"{reason}; the index is being brought up to date."
        if failure:
            return f"{reason}; the index could not be brought up to date: {failure}"
        return f"{reason}; the index was brought up to date first."

    def bring_back(self) -> str:
        """Wait until a run of this checkout has had the store; return what went wrong."""
        return self._wait_for(self._work.refresh(self._where, lambda job: not (job.cancel.is_set or job.is_over)))

    def keep_fresh(self) -> None:
        """Follow the files from now on."""
        self._syncs.begin(self._root, self._store)

    def check_files(self) -> str | None:
        """Have files that differ indexed, if that is soon done; return what is still behind, or None without a sync."""
        return self._syncs.before_query(self._root, self._store, self._seconds_left)

    @property
    def _seconds_left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    @staticmethod
    def _wait_for(job: Job, seconds: float | None = None) -> str:
        try:
            job.wait(lambda job: job.searchable, seconds)
        except CmError as error:
            return error.message
        return ""
