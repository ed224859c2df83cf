"""What the daemon does with a request, on a thread: find the project, look whether its index is behind, ask the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from cm_tui import paths
from cm_tui.daemon.checkout_waiters import CheckoutWaiters
from cm_tui.daemon.events import Events
from cm_tui.daemon.invoke import accepts_notes, ask, method_of, other_checkout_note, with_note
from cm_tui.daemon.jobs import Job, Jobs
from cm_tui.daemon.project_pool import PATIENCE_SECONDS, ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.sync_manager import SyncManager, with_layers
from cm_tui.engine.api import projects
from cm_tui.engine.freshness.watcher import NAME as WATCHER
from cm_tui.errors import CmError, NotIndexedError, RefusedError, StoreBusyError
from cm_tui.model import Cancel, Check, Freshness, Progress

HISTORY = "#history"
"""Where jobs that read the past queue: index runs do not wait for them."""
_NOT_YET = "watches from the first question on"
_SLICE_SECONDS = 10.0
"""After so long a job that reads the past lets another checkout of its project have the store."""
_PAUSE_SECONDS = 0.2


class Dispatcher:
    """Answers requests of all clients.

    Args:
        pool: where engines are lent.
        jobs: where long work goes.
        events: told what changed.
    """

    def __init__(self, pool: ProjectPool, jobs: Jobs, events: Events) -> None:
        self.pool = pool
        self.jobs = jobs
        self.events = events
        self.sync_manager = SyncManager(self)
        self.waiters = CheckoutWaiters()
        self._reflected: dict[Path, Path] = {}
        """Which checkout a store was last brought to, as far as that happened here."""

    # --- quick questions ---

    def open(self, where: ProjectRef, *, create: bool = True) -> dict[str, str]:
        """Open a project, and say where it lies."""
        with self.pool.acquire(where, create=create) as project:
            answer = {"root": str(project.root), "store": str(project.store)}
            wanted = project.engine.wants_history()
        if wanted:
            self._read_on(where)
        return answer

    def call(self, name: str, where: ProjectRef, arguments: Any) -> Any:
        """One call of the engine.

        Raises:
            CmError: as the engine has it; UsageError for a method or arguments that there are not.
        """
        method = method_of(name, streams=False)
        values = method.unpack(arguments)
        if name == "reset":
            return self._reset(where)
        if name == "freshness":
            return self._freshness(where)
        need = method.need(values)
        if need in ("files", "head"):
            return self._query(name, where, values, self.refresh(where, line=need == "head"))
        if need == "checkout":
            return self._query(name, where, values, "")
        if name == "wants_history":
            # It is read here, in the background, after the project is opened and after each index run.
            return False
        with self.pool.acquire(where, create=name != "stale_reason") as project:
            other = project.engine.indexed_checkout()
            result = ask(project, name, values)
            if name == "save_profile":
                project.refresh_signature()
                self.events.publish("config", project=str(project.root))
        return with_note(result, other_checkout_note(other)) if other else result

    def _query(self, name: str, where: ProjectRef, values: dict[str, Any], note: str) -> Any:
        """Ask when the store reflects the checkout that asks: another one of the same project may have had it meanwhile."""
        until = time.monotonic() + PATIENCE_SECONDS
        with ExitStack() as lent:
            project = lent.enter_context(self.pool.acquire(where))
            # While it is lent, no other checkout can take it.
            while other := project.engine.indexed_checkout():
                if time.monotonic() > until:
                    note = other_checkout_note(other)
                    break
                lent.close()
                with self.waiters.waiting(project.root):
                    failure = self._bring_back(where)
                    project = lent.enter_context(self.pool.acquire(where))
                note = f"{other_checkout_note(other, 'reflected')} It was brought back to this one first."
                if failure and (other := project.engine.indexed_checkout()):
                    note = f"{other_checkout_note(other)} It could not be brought back to this one: {failure}"
                    break
            result = ask(project, name, values)
        if other and not accepts_notes(result):
            raise StoreBusyError(note, hint="Ask again when the other one has come to rest.")
        return with_note(result, note) if note else result

    def _bring_back(self, where: ProjectRef) -> str:
        """Wait until a run of this checkout has had the store; gives what went wrong."""
        root, store = self.pool.locate(where)
        own = [
            job for job in self.jobs.of(store) if job.project == str(root) and not (job.cancel.is_set or job.is_over)
        ]
        job = own[0] if own else self._submit(where, root, store, "refresh", {})
        try:
            job.wait(lambda job: job.searchable)
        except CmError as error:
            return error.message
        return ""

    def refresh(self, where: ProjectRef, *, line: bool = False) -> str:
        """Bring a project's index up to its HEAD and its files when it is behind; gives a note for the answer.

        While a run is under way nobody waits for it: the answer comes from what is there.

        Args:
            where: the project.
            line: only when HEAD has moved; files that differ from it are left alone.
        """
        root, store = self.pool.locate(where)
        for job in self.jobs.of(store):
            if job.state == "running" and job.project == str(root):
                return "" if job.searchable else "An index run is under way; this is what was known before it."
        kept = self.sync_manager.before_query(root, store) if not line else None
        if kept is not None:
            return kept
        note = self._catch_up(where, root, store)
        if note is None:
            # As with any client: what is not indexed has no answers, and the caller may say so.
            return ""
        self.sync_manager.begin(root, store)
        if line:
            return note
        return f"{note} {self.sync_manager.before_query(root, store) or ''}".strip()

    def _catch_up(self, where: ProjectRef, root: Path, store: Path) -> str | None:
        """Index what HEAD says is missing; None for what was never indexed."""
        try:
            with self.pool.acquire(where, create=False) as project:
                reason = project.engine.stale_reason()
        except NotIndexedError:
            return None
        if not reason:
            return ""
        waiting = [job for job in self.jobs.of(store) if job.name == "refresh" and job.project == str(root)]
        job = waiting[0] if waiting else self._submit(where, root, store, "refresh", {})
        try:
            job.wait(lambda job: job.searchable)
        except CmError as error:
            return f"{reason}; the index could not be brought up to date: {error.message}"
        return f"{reason}; the index was brought up to date first."

    def _freshness(self, where: ProjectRef) -> Freshness:
        root, store = self.pool.locate(where)
        found = self.sync_manager.freshness(root, store)
        if found is not None:
            other = self._reflected.get(store, root)
            if other != root:
                found = replace(found, behind=True, why=other_checkout_note(str(other)))
            return with_layers(found, root)
        with self.pool.acquire(where, create=False) as project:
            state = project.engine.freshness()
        layers = (replace(layer, note=_NOT_YET) if layer.name == WATCHER else layer for layer in state.layers)
        return replace(state, layers=tuple(layers))

    def _reset(self, where: ProjectRef) -> None:
        root, store = self.pool.locate(where)
        self.remove(store.name)
        self.events.publish("index", project=str(root))

    # --- long work ---

    def start(self, name: str, where: ProjectRef, arguments: Any, *, wanted: Callable[[], bool] = lambda: True) -> Job:
        """Begin long work of the engine; it waits for its turn.

        Args:
            name: of the method.
            where: the project.
            arguments: of the method.
            wanted: asked when its turn has come; otherwise nothing is done.
        """
        values = method_of(name, streams=True).unpack(arguments)
        root, store = self.pool.locate(where)
        if name in ("backfill", "catch_up"):
            return self._submit_history(where, root, store, None if name == "catch_up" else values)
        return self._submit(where, root, store, name, values, wanted)

    def _submit(
        self,
        where: ProjectRef,
        root: Path,
        store: Path,
        name: str,
        values: dict[str, Any],
        wanted: Callable[[], bool] = lambda: True,
    ) -> Job:
        def work(cancel: Cancel) -> Iterator[Progress]:
            return self._told(root, store, self._work(where, store, name, values, cancel)) if wanted() else iter(())

        return self.jobs.submit(store, root, name, work)

    def _submit_history(self, where: ProjectRef, root: Path, store: Path, values: dict[str, Any] | None) -> Job:
        """Read the past as someone asked, or (no values) as far as the configuration wants it."""

        def work(cancel: Cancel) -> Iterator[Progress]:
            return self._history(where, values, cancel)

        return self.jobs.submit(store, root, "history" if values is None else "backfill", work, lane=HISTORY)

    def _history(self, where: ProjectRef, values: dict[str, Any] | None, cancel: Cancel) -> Iterator[Progress]:
        more = True
        while more:
            more = False
            until = time.monotonic() + _SLICE_SECONDS
            with self.pool.acquire(where, run=True) as project:
                engine = project.engine
                with closing(
                    engine.catch_up(cancel=cancel) if values is None else engine.backfill(**values, cancel=cancel)
                ) as steps:
                    for step in steps:
                        yield step
                        if time.monotonic() > until:
                            more = True
                            break
            if more:
                time.sleep(_PAUSE_SECONDS)

    def _read_on(self, where: ProjectRef) -> None:
        """Have the past read in the background, unless that is waiting to be done already."""
        root, store = self.pool.locate(where)
        if any(job.state == "queued" for job in self.jobs.of(store, lane=HISTORY)):
            return
        try:
            self._submit_history(where, root, store, None)
        except CmError:
            # The daemon is ending: whoever opens the project next goes on.
            return

    def _work(
        self, where: ProjectRef, store: Path, name: str, values: dict[str, Any], cancel: Cancel
    ) -> Iterator[Progress]:
        if name == "rebuild":
            # Not through an open engine: what is there may be damaged, and others must not meet a closed store.
            self._end_history(store)
            with self.pool.exclusive(store):
                projects.clear_store(store)
            values = {"full": True}
        with self.pool.acquire(where, run=True) as project:
            due = name != "refresh" or bool(project.engine.stale_reason())
            if due:
                yield from project.engine.index(**values, cancel=cancel)
            wanted = due and project.engine.wants_history()
            self.waiters.await_waiters(project.root)
        if wanted:
            self._read_on(where)

    def _told(self, root: Path, store: Path, steps: Iterator[Progress]) -> Iterator[Progress]:
        """Tell listeners when answers change: once keywords are in, and at the end."""
        told = False
        for step in steps:
            if step.searchable and not told:
                told = True
                self._reflected[store] = root
                self.events.publish("index", project=str(root))
            yield step
            if step.summary is not None:
                self.events.publish("index", project=str(root), changed=step.summary.changed)

    # --- upkeep ---

    def examine(self, where: ProjectRef) -> tuple[Check, ...]:
        """`cm doctor`, also for a project that does not open."""
        where = replace(where, force=True)
        try:
            with self.pool.acquire(where) as project:
                return project.engine.doctor()
        except CmError as error:
            root, _ = self.pool.locate(where)
            return projects.examine_without_store(root, error)

    def remove(self, name: str) -> None:
        """Remove a store, after ending what is done with it.

        Args:
            name: of its folder, as in `api.projects.all_stores()`.

        Raises:
            RefusedError: it is no name of a store.
        """
        if Path(name).name != name or name in ("", ".", "..") or "\0" in name:
            raise RefusedError(f"{name!r} is not the name of an index folder.")
        store = paths.data_dir() / "projects" / name
        for job in self.jobs.of(store):
            job.cancel.set()
        self.sync_manager.drop(store)
        for job in self.jobs.of(store):
            job.cancel.set()
            job.join()
        self._end_history(store)
        with self.pool.exclusive(store):
            projects.remove_store(store)

    def _end_history(self, store: Path) -> None:
        for job in self.jobs.of(store, lane=HISTORY):
            job.cancel.set()
            job.join()

    def cancel(self, number: str) -> None:
        """Ask a job to stop."""
        self.jobs.get(number).cancel.set()
