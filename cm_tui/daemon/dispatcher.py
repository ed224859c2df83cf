"""The daemon's handling of a request, on a thread: find the project, update its index as needed, call the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cm_tui.config import DaemonConfig
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import Job, Jobs
from cm_tui.daemon.long_work import REFRESH, IndexRun, LongWork
from cm_tui.daemon.project_pool import STORE_WAIT_S, Project, ProjectPool
from cm_tui.daemon.rpc import METHODS, Method, ProjectRef
from cm_tui.daemon.sync_manager import SyncManager
from cm_tui.daemon.turns import Turns
from cm_tui.daemon.upkeep import Upkeep
from cm_tui.engine.api.needs import Written
from cm_tui.engine.code.freshness.policy import accepts_notes, noted, with_note
from cm_tui.engine.code.freshness.watcher import NAME as WATCHER
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.errors import CmError, NotFoundError, NotIndexedError, StoreBusyError, UsageError
from cm_tui.model import Candidates, Freshness, Need

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.engine.code.index.index_run import IndexOutcome

# --- before a response: runs are jobs, and a sync follows the files ---


class IndexCheck:
    """One project's index: whether it is current, and how to update it before a response.

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

    def prepare(self, need: Need) -> str:
        """Update the index as far as a call needs, and return a note for its response.

        Calls do not wait for a running index run: they get the current state. Without any index there are no results,
        which the caller may report. `need`: declared by the call.
        """
        if need not in ("files", "head"):
            return ""
        running = next((job for job in self._work.own_jobs(self._root, self._store) if job.state == "running"), None)
        if running is not None:
            return "" if running.searchable else "An index run is in progress; results are from before it."
        if need == "files" and (behind := self._check_files()) is not None:
            return behind
        try:
            reason = self.stale_reason()
        except NotIndexedError:
            return ""
        note = self._bring_to_head(reason) if reason else ""
        self._syncs.begin(self._root, self._store)
        behind = self._check_files() if need == "files" else None
        return f"{note} {behind or ''}".strip()

    def stale_reason(self) -> str:
        """Return why the index does not reflect HEAD; nothing when it does.

        Raises NotIndexedError if there is no index yet.
        """
        with self._pool.acquire(self._where, create=False) as project:
            return project.engine.stale_reason()

    def _bring_to_head(self, reason: str) -> str:
        """Wait until a run has brought the index up to HEAD; return a note, also when that failed."""
        job = self._refresh(lambda job: job.name == REFRESH)
        failure = self._wait_for(job, self._seconds_left)
        if not (job.searchable or job.is_over):
            return f"{reason}; the index is being brought up to date."
        if failure:
            return f"{reason}; the index could not be brought up to date: {failure}"
        return f"{reason}; the index was brought up to date first."

    def bring_back(self) -> str:
        """Wait until a run of this checkout has had the store; return what went wrong."""
        return self._wait_for(self._refresh(lambda job: not (job.cancel.is_set or job.is_over)))

    def _refresh(self, among: Callable[[Job], bool]) -> Job:
        # What the run compares, the sync that begins after it need not index again.
        return self._work.refresh(self._where, among, partial(self._syncs.compare, self._root, self._store))

    def _check_files(self) -> str | None:
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


# --- one question to the engine, and what is said with its answer ---


def method_of(name: str, *, streams: bool) -> Method:
    """A method of the engine.

    `streams`: whether long work is wanted, or a single result. Raises UsageError: unknown method.
    """
    method = METHODS.get(name)
    if method is None or method.streams != streams:
        raise UsageError(f"Unknown {'task' if streams else 'method'}: {name[:80]!r}.")
    return method


def ask(project: Project, name: str, values: dict[str, Any]) -> Any:
    """Ask the engine; candidates stay here, and only the name of their table goes out."""
    engine = project.engine
    if name == "rank":
        asked: Candidates = values.pop("candidates")
        found = project.kept(str(asked.table))
        # What was forgotten is retrieved again.
        found = found or engine.retrieve(asked.query, profile=values["profile"], mode=asked.mode)
        return engine.rank(found, **values)
    result = getattr(engine, name)(**values)
    return replace(result, table=project.keep(result)) if isinstance(result, Candidates) else result


def other_checkout_note(root: str, reflects: str = "reflects") -> str:
    """Return the note on a result or state of another checkout."""
    return f"The index {reflects} another checkout, {root}."


# --- what the daemon does with a request, on a thread ---


class _Calls:
    """Calls the engine's methods as a client does: brought up to date first, and what is written is published."""

    def __init__(self, dispatcher: Dispatcher, where: ProjectRef, client: str) -> None:
        self._dispatcher, self._where, self._client = dispatcher, where, client

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            values = METHODS[name].bound(args, kwargs)
            return self._dispatcher.call(name, self._where, values, client=self._client)

        return call


def engine_of(dispatcher: Dispatcher, where: ProjectRef, client: str = "") -> Engine:
    """Return a project's engine for a part of the daemon that asks as a client does; long work is not among it."""
    return cast("Engine", _Calls(dispatcher, where, client))


_NOT_YET = "watches from the first question on"


class Dispatcher:
    """Answers requests of all clients.

    `pool`: where engines are opened; `jobs`: where long work goes; `events`: told what changed; `wait_s`: how long a
    question waits for the index to follow what has just changed.
    """

    def __init__(
        self, pool: ProjectPool, jobs: Jobs, events: Events, wait_s: float = DaemonConfig().wait_seconds
    ) -> None:
        self.pool = pool
        self.jobs = jobs
        self.events = events
        self.turns = Turns()
        self._same = SharedResults()
        self._wait_s = wait_s
        self._work = LongWork(pool, jobs, events, self.turns)
        self.sync_manager = SyncManager(self._run_index)
        self.upkeep = Upkeep(pool, jobs, events, self._work, self.sync_manager)

    # --- quick questions ---

    def open(self, where: ProjectRef, *, create: bool = True) -> dict[str, str]:
        """Open a project, and return its paths.

        `create`: create a missing store. Raises NotIndexedError if the store is missing, and `create` is not set;
        CmError if it cannot be opened.
        """
        with self.pool.acquire(where, create=create) as project:
            answer = {"root": str(project.root), "store": str(project.store)}
            wants_history, remembers = project.engine.wants_history(), project.engine.remembers()
        if wants_history:
            self._work.catch_up(where)
        if remembers:
            self._work.embed_once(where)
        return answer

    def on_recorded(self, root: Path, where: ProjectRef | None = None) -> None:
        """Tell listeners that a project remembers something else now, and have that embedded.

        `where`: it was asked for; found by its root when not given.
        """
        self.events.publish("index", project=str(root))
        self._work.embed_recorded(where or ProjectRef(str(root), force=True))

    def call(self, name: str, where: ProjectRef, arguments: Any, *, client: str = "") -> Any:
        """Call a method of the engine.

        `client`: who asks; each has its share of the processor. Raises CmError as the engine has it; UsageError for a
        method or arguments that there are not.
        """
        method = method_of(name, streams=False)
        values = method.unpack(arguments)
        if name == "reset":
            return self.upkeep.reset(where, **values)
        if name in ("erase", "purge") and not values.get("dry_run"):
            return self.upkeep.erase(name, where, values)
        if name == "freshness":
            return self._freshness(where)
        if name == "wants_history":
            # It is read here, in the background, after the project is opened and after each index run.
            return False
        need, writes = method.declared.need_of(values), method.declared.writes_of(values)
        if need != "nothing" or (where.own_index and method.declared.of_index):
            result = self._query(method, where, values, self._check(where).prepare(need), client)
            if writes:
                self._publish(self.pool.locate(where)[0], where, writes)
            return result
        with self.pool.acquire(where, create=name != "stale_reason") as project:
            other = project.engine.indexed_checkout()
            with self.turns.take(client):
                result = ask(project, name, values)
            if "settings" in writes:
                project.refresh_signature()
            self._publish(project.root, where, writes)
        return with_note(result, other_checkout_note(other)) if other else result

    def _publish(self, root: Path, where: ProjectRef, writes: Collection[Written]) -> None:
        """Tell listeners what a call has written."""
        if "settings" in writes:
            self.events.publish("config", project=str(root))
        if "memory" in writes:
            self.on_recorded(root, where)

    def _query(self, method: Method, where: ProjectRef, values: dict[str, Any], note: str, client: str) -> Any:
        """Ask when the store reflects the checkout that asks: another one of the same project may have had it meanwhile."""
        until = time.monotonic() + STORE_WAIT_S
        with ExitStack() as stack:
            project = stack.enter_context(self.pool.acquire(where))
            # While it is in use, no other checkout can take it.
            while other := project.engine.indexed_checkout():
                if time.monotonic() > until:
                    note = other_checkout_note(other)
                    break
                stack.close()
                with self._work.waiters.waiting(project.root):
                    failure = self._check(where).bring_back()
                    project = stack.enter_context(self.pool.acquire(where))
                note = f"{other_checkout_note(other, 'reflected')} It was switched to this one first."
                if failure and (other := project.engine.indexed_checkout()):
                    note = f"{other_checkout_note(other)} It could not be switched to this one: {failure}"
                    break
            if other and where.own_index:
                raise StoreBusyError(note, hint="Try again when the other one has finished.")
            try:
                result = self._ask(project, method, values, client)
            except NotFoundError as error:
                # It may be there, and not in the index yet.
                raise noted(error, note) from error
        if other and not accepts_notes(result):
            raise StoreBusyError(note, hint="Try again when the other one has finished.")
        return with_note(result, note) if note else result

    def _ask(self, project: Project, method: Method, values: dict[str, Any], client: str) -> Any:
        """Ask the engine in the client's turn; a question that another asks of the same state is answered with it."""

        def answer() -> Any:
            with self.turns.take(client):
                return ask(project, method.name, values)

        if not method.declared.shared or method.declared.writes_of(values):
            return answer()
        # Text that tells arguments of different types apart; what it cannot tell apart is asked by itself.
        question = (project.engine, project.engine.generation, method.name, repr(sorted(values.items())))
        return self._same.get(question, answer)[0]

    def _check(self, where: ProjectRef) -> IndexCheck:
        return IndexCheck(where, self.pool, self._work, self.sync_manager, self._wait_s)

    def _freshness(self, where: ProjectRef) -> Freshness:
        # Its checks of git's hooks import libgit2, which a daemon without a project does not need.
        from cm_tui.integrations.external_layers import with_external_layers

        root, store = self.pool.locate(where)
        found = self.sync_manager.freshness(root, store)
        if found is not None:
            other = self._work.reflected(store) or root
            if other != root:
                found = replace(found, behind=True, why=other_checkout_note(str(other)))
            return with_external_layers(self._work.with_last_run(store, found), root)
        with self.pool.acquire(where, create=False) as project:
            state = self._work.with_last_run(store, project.engine.freshness())
        layers = (replace(layer, note=_NOT_YET) if layer.name == WATCHER else layer for layer in state.layers)
        return with_external_layers(replace(state, layers=tuple(layers)), root)

    # --- long work ---

    def start(self, name: str, where: ProjectRef, arguments: Any) -> Job:
        """Begin long work of the engine; it waits for its turn."""
        values = method_of(name, streams=True).unpack(arguments)
        if name in ("backfill", "catch_up"):
            return self._work.submit_history(where, None if name == "catch_up" else values)
        if name == "import_sessions":
            return self._work.submit_import(where, values)
        if name == "narrate":
            return self._work.submit_narrate(where, values)
        if values.get("paths") or values.get("since"):
            return self._work.submit(IndexRun(where, name, values))
        begin = partial(self.sync_manager.compare, *self.pool.locate(where))
        return self._work.submit(IndexRun(where, name, values, begin=begin))

    def read_history(self, where: ProjectRef) -> None:
        """Have a project's history read in the background, as far as the configuration wants it."""
        self._work.catch_up(where)

    def narrate_by_itself(self, where: ProjectRef) -> Job:
        """Start an automatic pass of the narrator."""
        return self._work.submit_narrate(where, {}, by_itself=True)

    def signal(self, root: Path, layer: str, files: Sequence[str]) -> None:
        """Record a change reported by a hook; no files: anything may have changed.

        Raises CmError if the project cannot be found, or its settings cannot be read.
        """
        where = ProjectRef(str(root))
        root, store = self.pool.locate(where)
        if self.sync_manager.signal(root, store, layer, files):
            return
        try:
            self._check(where).stale_reason()
        except NotIndexedError:
            return
        # It begins by comparing everything.
        self.sync_manager.begin(root, store)

    def _run_index(self, root: Path, files: Sequence[str], wanted: Callable[[], bool]) -> IndexOutcome | None:
        return self._work.run_index(ProjectRef(str(root), force=True), list(files), wanted)

    def cancel(self, number: str) -> None:
        """Ask a job to stop."""
        self.jobs.cancel(self.jobs.get(number))
