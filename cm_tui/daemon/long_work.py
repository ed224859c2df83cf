"""Long work on a project, as jobs: index runs in one queue, reading history in another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cm_tui.clock import SYSTEM, Clock
from cm_tui.config import load_config
from cm_tui.counts import count
from cm_tui.daemon.events import Events
from cm_tui.daemon.jobs import ALL_STORES, Job, Jobs, Waits
from cm_tui.daemon.project_pool import ProjectPool
from cm_tui.daemon.rpc import ProjectRef
from cm_tui.daemon.turns import CheckoutWaiters, Turns
from cm_tui.engine.api import projects
from cm_tui.engine.platform.store import memory
from cm_tui.errors import CmError
from cm_tui.model import Cancel, IndexSummary, Progress
from cm_tui.model.freshness import Freshness
from cm_tui.worker_process import lower_thread_priority

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine
    from cm_tui.engine.code.index.index_run import IndexOutcome

SLICE_S = 0.02
"""Time slice of long work between two checks for waiting requests."""
PAUSE_S = 0.2
"""Longest pause for requests after a slice, so that long work progresses under load."""


class Slices:
    """Pauses of one piece of long work, to be called between its steps.

    `turns`: of those who ask; `clock`: measures a slice.
    """

    def __init__(self, turns: Turns, clock: Clock = SYSTEM) -> None:
        self._turns = turns
        self._clock = clock
        self._begun = clock.monotonic()

    def __call__(self) -> None:
        """Let questions go first, for a moment, once a slice is over."""
        if self._clock.monotonic() - self._begun > SLICE_S:
            self._turns.give_way(PAUSE_S)
            self._begun = self._clock.monotonic()


HISTORY = f"{ALL_STORES}history"
"""Where jobs that read the history by themselves queue, of all projects: each takes parsers, and keeps its project open."""
BACKFILL = "#backfill"
"""Where jobs queue that read all of the history for someone: those that read it by themselves wait meanwhile."""
QUESTION = "#question"
"""Where jobs queue that read the history no further than a question needs: those that read all of it wait meanwhile."""
IMPORT = "#import"
"""Where jobs that read agents' transcripts queue."""
NARRATE = "#narrate"
"""Where passes of the narrator queue."""
VECTORS = "#vectors"
"""Where jobs queue that embed what was recorded, after everything else."""
BY_ITSELF = "narrate by itself"
"""Name of an automatic pass of the narrator."""
REFRESH = "refresh"
"""An index run that only follows HEAD: it does nothing when the index already reflects HEAD."""
_PAUSE_S = 0.2
_OTHERS_S = 2.0
"""How long another checkout has the store for its requests, each of which takes it several times."""


Steps = Generator[Progress, None, None]


def _words(name: str, summary: IndexSummary) -> str:
    """Return what an index run did, for people."""
    did = "rebuilt the index" if name == "rebuild" else "indexed"
    return f"{did}: {count(summary.blobs, 'file')} parsed in {sum(summary.seconds.values()):.1f} s"


@dataclass(frozen=True)
class IndexRun:
    """An index run that is to be made."""

    where: ProjectRef
    name: str
    """`index`, `rebuild` or `refresh`."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Of the method of that name."""
    asked_for: bool = True
    """The user requested it; otherwise transcripts are embedded afterwards, at low priority."""
    wanted: Callable[[], bool] = lambda: True
    """Asked when its turn has come; otherwise nothing is done."""
    begin: Callable[[], Callable[[IndexOutcome], None]] = lambda: lambda _: None
    """Called before it looks at the files; returns what takes its outcome."""


class LongWork:
    """Submits jobs, and says what they do.

    `pool`: where engines are opened; `jobs`: where they queue; `events`: told what changed; `turns`: of those who ask,
    who go first; `clock`: measures slices and pauses.
    """

    def __init__(self, pool: ProjectPool, jobs: Jobs, events: Events, turns: Turns, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._turns = turns
        self._pool = pool
        self._jobs = jobs
        self._events = events
        self.waiters = CheckoutWaiters()
        self._reflected: dict[Path, Path] = {}
        """Which checkout a store was last brought to, as far as that happened here."""
        self._embedded: set[Path] = set()
        """Stores that were looked at once."""
        self._last_runs: dict[Path, tuple[float, str]] = {}
        """When the last requested index run ended, and what it did."""
        self._history_lock = threading.Lock()
        self._history_jobs: dict[tuple[Path, Path], Job] = {}
        """Which job reads the history of a checkout as far as the configuration wants it."""
        self._history_again: set[tuple[Path, Path]] = set()
        """Where it was asked for once more meanwhile, as HEAD may have moved."""

    def reflected(self, store: Path) -> Path | None:
        """Return the checkout that a store was last brought to, as far as that is known."""
        return self._reflected.get(store)

    def with_last_run(self, store: Path, state: Freshness) -> Freshness:
        """Return the freshness of an index; a requested run is the last one where it ended later."""
        ran_at, did = self._last_runs.get(store, (0.0, ""))
        return replace(state, ran_at=ran_at, did=did) if ran_at > (state.ran_at or 0.0) else state

    def own_jobs(self, root: Path, store: Path) -> list[Job]:
        """Return the index runs of a checkout that are not over, in their order."""
        return [job for job in self._jobs.of(store) if job.project == str(root)]

    # --- index runs ---

    def submit(self, run: IndexRun) -> Job:
        """Put an index run in its project's queue."""
        root, store = self._pool.locate(run.where)

        def work(cancel: Cancel) -> Iterator[Progress]:
            return self._published(root, store, self._index(run, store, cancel)) if run.wanted() else iter(())

        return self._submit(run.where, run.name, work)

    def _submit(
        self,
        where: ProjectRef,
        name: str,
        work: Callable[[Cancel], Iterator[Progress]],
        lane: str = "",
        waits: Waits | None = None,
    ) -> Job:
        """Put work, which pauses for questions, into a queue of its project."""
        root, store = self._pool.locate(where)

        def paused(cancel: Cancel) -> Iterator[Progress]:
            return work(cancel.with_pauses(Slices(self._turns)))

        return self._jobs.submit(store, root, name, paused, lane=lane, waits=waits)

    def refresh(self, where: ProjectRef, among: Callable[[Job], bool]) -> Job:
        """Return a run of a checkout that follows HEAD; submit one if necessary."""
        root, store = self._pool.locate(where)
        job = next((job for job in self.own_jobs(root, store) if among(job)), None)
        return job or self.submit(IndexRun(where, REFRESH, asked_for=False))

    def run_index(self, where: ProjectRef, paths: list[str], wanted: Callable[[], bool]) -> IndexOutcome | None:
        """Run an index as a job, and wait for it; None when it was not wanted any more."""
        outcomes: list[IndexOutcome] = []
        run = IndexRun(where, "index", {"paths": paths}, asked_for=False, wanted=wanted, begin=lambda: outcomes.append)
        self.submit(run).wait()
        return outcomes[0] if outcomes else None

    def _index(self, run: IndexRun, store: Path, cancel: Cancel) -> Iterator[Progress]:
        arguments = run.arguments
        if run.name == "rebuild":
            # Not through an open engine: what is there may be damaged, and others must not meet a closed store.
            self.end_history(store)
            with self._pool.exclusive(store):
                projects.begin_rebuild(self._pool.locate(run.where)[0], store)
            arguments = {"full": True}
        with self._pool.acquire(run.where, run=True) as project:
            due = run.name != REFRESH or bool(project.engine.stale_reason())
            if due:
                on_end = run.begin()
                outcome = yield from project.engine.run_index(**arguments, cancel=cancel, with_prose=run.asked_for)
                on_end(outcome)
                if run.asked_for:
                    self._last_runs[store] = self._clock.now(), _words(run.name, outcome.summary)
            wants_history = due and project.engine.wants_history()
            remembers = due and project.engine.remembers()
            # A requested run embeds what it finds.
            remembers = remembers and (not run.asked_for or project.engine.has_unread_names())
            self.waiters.await_waiters(project.root)
        if due:
            # What a run worked with stays with the process otherwise, until the next one.
            memory.release_memory()
        if wants_history:
            self.catch_up(run.where)
        if remembers:
            self.embed_recorded(run.where)

    def _published(self, root: Path, store: Path, steps: Iterator[Progress]) -> Iterator[Progress]:
        """Tell listeners when answers change: once keywords are in, and at the end."""
        told = False
        for step in steps:
            if step.searchable and not told:
                told = True
                self._reflected[store] = root
                self._events.publish("index", project=str(root))
            yield step
            if step.summary is not None:
                self._events.publish("index", project=str(root), changed=step.summary.changed)

    # --- sessions of agents ---

    def submit_import(self, where: ProjectRef, arguments: Mapping[str, Any]) -> Job:
        """Read agents' transcripts; nothing else of the project waits for it, as it writes to the journal alone."""
        root, _ = self._pool.locate(where)

        def work(cancel: Cancel) -> Iterator[Progress]:
            from cm_tui.engine.api.imports import import_into

            for step in import_into(root, load_config(root), **arguments, cancel=cancel):
                if step.imported is not None and step.imported.episodes:
                    with self._pool.acquire(where) as project:
                        project.engine.read_recorded()
                    self._events.publish("index", project=str(root))
                    self.embed_recorded(where)
                yield step

        def waits(ahead: Job) -> str:
            seconds = max(0, round(self._clock.now() - ahead.started))
            return f"another import of this project began {count(seconds, 'second')} ago; waiting for it to finish"

        return self._submit(where, "import", work, IMPORT, waits)

    # --- the narrator ---

    def submit_narrate(self, where: ProjectRef, arguments: Mapping[str, Any], *, by_itself: bool = False) -> Job:
        """Submit a pass of the narrator over new episodes; a requested pass ends an automatic one.

        `arguments`: of `narrate`; `by_itself`: automatic, not requested.
        """
        root, store = self._pool.locate(where)
        if not by_itself:
            for job in self._jobs.of(store, lane=NARRATE):
                if job.name == BY_ITSELF:
                    job.cancel.set()

        def work(cancel: Cancel) -> Iterator[Progress]:
            with self._pool.acquire(where, run=True) as project:
                yield from project.engine.narrate(**arguments, cancel=cancel)
            # What a pass worked with stays with the process otherwise, until the next one.
            memory.release_memory()
            self._events.publish("index", project=str(root))

        return self._submit(where, BY_ITSELF if by_itself else "narrate", work, NARRATE)

    def embed_once(self, where: ProjectRef) -> None:
        """Have what an earlier daemon left without vectors embedded."""
        _, store = self._pool.locate(where)
        if store not in self._embedded:
            self._embedded.add(store)
            self.embed_recorded(where)

    def embed_recorded(self, where: ProjectRef) -> None:
        """Have what was recorded embedded in the background, unless that is waiting to be done already."""
        _, store = self._pool.locate(where)
        if any(job.state == "queued" for job in self._jobs.of(store, lane=VECTORS)):
            return

        # The daemon is ending: the next one finds what has no vector.
        with suppress(CmError):
            self._submit(where, "vectors", lambda cancel: self._embed(where, store, cancel), VECTORS)

    def _embed(self, where: ProjectRef, store: Path, cancel: Cancel) -> Iterator[Progress]:
        def begin(engine: Engine) -> Steps:
            lower_thread_priority()
            return engine.embed_recorded(cancel=cancel)

        # An index run embeds what it finds, and has the processor for itself.
        return self._in_slices(where, begin, cancel, lambda: bool(self._jobs.of(store)))

    # --- the history ---

    def submit_history(self, where: ProjectRef, arguments: Mapping[str, Any] | None) -> Job:
        """Read the history as someone asked, or (no arguments) as far as the configuration wants it."""
        if arguments is None:
            return self._catch_up(where)
        is_question = any(value is not None for value in arguments.values())
        waits_for = () if is_question else (QUESTION,)
        return self._submit(
            where,
            "backfill",
            lambda cancel: self._read(where, arguments, cancel, waits_for),
            QUESTION if is_question else BACKFILL,
        )

    def catch_up(self, where: ProjectRef) -> None:
        """Have the history read in the background; a job that does so already goes on with what is new."""
        with suppress(CmError):
            # The daemon is ending: the next one continues.
            self._catch_up(where)

    def _catch_up(self, where: ProjectRef) -> Job:
        """Return the job that reads a checkout's history as far as the configuration wants it: one at a time."""
        key = self._pool.locate(where)

        def work(cancel: Cancel) -> Iterator[Progress]:
            more = True
            while more:
                yield from self._read(where, None, cancel, (QUESTION, BACKFILL))
                memory.release_memory()
                with self._history_lock:
                    more = key in self._history_again
                    self._history_again.discard(key)
                    if not more:
                        self._history_jobs.pop(key, None)

        with self._history_lock:
            job = self._history_jobs.get(key)
            if job is not None and not job.is_over and not job.cancel.is_set:
                if job.state == "running":
                    self._history_again.add(key)
                return job
            self._history_again.discard(key)
            job = self._history_jobs[key] = self._submit(where, "history", work, HISTORY)
            return job

    def end_history(self, store: Path) -> None:
        """Stop what reads a store's history or looks at its episodes, and wait until it has."""
        for lane in (QUESTION, BACKFILL, HISTORY, NARRATE):
            for job in self._jobs.of(store, lane=lane):
                self._jobs.cancel(job)
                job.join()

    def _read(
        self, where: ProjectRef, arguments: Mapping[str, Any] | None, cancel: Cancel, waits_for: Sequence[str]
    ) -> Iterator[Progress]:
        """Read on; `waits_for` are the lanes whose jobs go first."""
        _, store = self._pool.locate(where)

        def is_asked() -> bool:
            return any(self._jobs.of(store, lane=lane) for lane in waits_for)

        def begin(engine: Engine) -> Steps:
            return engine.catch_up(cancel=cancel) if arguments is None else engine.backfill(**arguments, cancel=cancel)

        return self._in_slices(where, begin, cancel, is_asked)

    def _in_slices(
        self, where: ProjectRef, begin: Callable[[Engine], Steps], cancel: Cancel, gives_way: Callable[[], bool]
    ) -> Iterator[Progress]:
        """Do what goes on where it was left, in slices: one ends when another checkout waits for the store.

        `gives_way`: whether no slice may begin, and a current one ends early; a rebuild needs the project for itself.
        """
        pause: float | None = 0.0
        while pause is not None:
            self._clock.sleep(pause)
            while gives_way():
                cancel.check()
                self._clock.sleep(_PAUSE_S)
            pause = None
            with self._pool.acquire(where, run=True) as project, closing(begin(project.engine)) as steps:
                for step in steps:
                    yield step
                    if self._pool.is_awaited(project):
                        pause = _OTHERS_S
                    elif gives_way():
                        pause = _PAUSE_S
                    if pause is not None:
                        break
