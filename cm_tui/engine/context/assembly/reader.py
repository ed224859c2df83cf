"""Reading sources in parallel, each within its time limit, isolated from errors and delays of the others."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from cm_tui.engine.context.assembly.steps import RUN, Means, Outcome, RunState, SourceRequest, Task
from cm_tui.engine.context.definitions.library import Library, Loaded
from cm_tui.engine.context.definitions.shapes import DeriveQuery, RetrievalDefinition
from cm_tui.engine.context.layers.layers import Layers
from cm_tui.engine.context.layers.ports import MemoryPorts, paths_of
from cm_tui.engine.platform.shared_results import SharedResults
from cm_tui.errors import CmError, RefusedError
from cm_tui.model import AssemblyStep

WORKERS = 2
"""Sources to read at once: each has a transaction of the generation, of which a store has few while it changes."""
_LEFT_BEHIND = 4
"""Workers to replace in one reading because their source takes too long."""
COLD = 5.0
"""How many times as long a source may take until one reading was in time: indexes, models and calls are loaded first."""
_log = logging.getLogger(__name__)

Reading = Callable[[], AbstractContextManager[int]]
"""Makes a thread read from one generation of the index, and yields its number."""


class MemoryReader:
    """Reads definitions and references of one project; thread-safe.

    Args:
        layers: the memory.
        ports: the engine.
        library: returns the current definitions.
        reading: makes a thread read from one generation.
        stamp: returns a stamp of the data outside the index.
        ask_model: calls the configured language model.
        timeout_s: time limit of one source, whatever its file says.
        cache_s: lifetime of a step's cached result.
    """

    def __init__(
        self,
        layers: Layers,
        ports: MemoryPorts,
        library: Callable[[], Library],
        reading: Reading,
        stamp: Callable[[], str],
        ask_model: Callable[[str, str], str],
        timeout_s: float,
        cache_s: float,
    ) -> None:
        self._layers = layers
        self._ports = ports
        self._library = library
        self._reading = reading
        self._stamp = stamp
        self._ask_model = ask_model
        self._timeout_s = timeout_s
        self._cache = SharedResults(cache_s)
        self._is_warm = False

    def read(self, task: Task, wanted: Sequence[SourceRequest]) -> Mapping[str, Outcome]:
        """Return each source's result by id; one that times out has an error."""
        with self._reading() as generation:
            run = _Run(self, task, wanted, generation)
            found = run.outcomes()
        self._is_warm = self._is_warm or not any(
            step.outcome == "timeout" for one in found.values() for step in one.steps
        )
        return found

    def one(self, run: _Run, want: SourceRequest) -> Outcome:
        """Read one source; errors are part of the outcome."""
        begun = time.perf_counter()
        try:
            found = self._definition(run, want, want.definition) if want.definition else self._reference(run, want)
        except CmError as error:
            return Outcome(error=_in_full(error), ms=_ms(begun), steps=run.steps_of(want.id))
        except Exception as error:  # noqa: BLE001 - one source must not break the others
            _log.exception("reading %s", want.id)
            return Outcome(error=f"It failed: {type(error).__name__}: {error}"[:300], ms=_ms(begun))
        return replace(found, ms=_ms(begun))

    def _reference(self, run: _Run, want: SourceRequest) -> Outcome:
        begun = time.perf_counter()
        found = self._layers.read(want.id, session=run.task.session, prompt=run.task.text)
        step = AssemblyStep(want.id, "read", run.since(begun), _ms(begun), len(found.items))
        run.note(want.id, step)
        notes = tuple(f"{want.id}: {note}" for note in found.notes)
        return Outcome(found.text, found.title, found.paths, (step,), notes=notes)

    def _definition(self, run: _Run, want: SourceRequest, loaded: Loaded[RetrievalDefinition]) -> Outcome:
        if loaded.is_held:
            raise RefusedError(
                f"Held until it is trusted: it wants to {loaded.asks[0]}.", hint="Decide with `cm trust`."
            )
        room = run.task.budget if want.room is None else want.room
        state = RunState(loaded, run.task, run.means, room, ended=run.ended)
        for number, step in enumerate(loaded.value.steps, 1):
            if run.ended.is_set():
                raise CmError("The request was cancelled.")
            begun = time.perf_counter()
            state.outcome, state.detail = "ok", ""
            try:
                RUN[step.type](step, state)
            except CmError as error:
                run.note(
                    want.id, AssemblyStep(want.id, step.type, run.since(begun), _ms(begun), 0, "failed", error.message)
                )
                raise type(error)(f"Step {number}, {step.type}: {error.message}", hint=error.hint) from error
            found = AssemblyStep(
                want.id, step.type, run.since(begun), _ms(begun), len(state.items), state.outcome, state.detail
            )
            run.note(want.id, found)
        text = state.text if state.text is not None else "\n\n".join(str(item.get("text", "")) for item in state.items)
        title = loaded.value.name
        return Outcome(
            text, title, paths_of(state.items), run.steps_of(want.id), tuple(state.warnings), tuple(state.notes)
        )

    def seconds_of(self, want: SourceRequest) -> float:
        """Return a source's time limit."""
        grace = 1.0 if self._is_warm else COLD
        if want.definition is None:
            return self._timeout_s * grace
        return grace * min(want.definition.value.timeout_seconds, max(self._timeout_s, _shipped_s(want.definition)))

    def means(self, run: _Run) -> Means:
        """Return the interface for the steps of an assembly."""
        stamp = f"{run.generation}:{self._stamp()}"
        return Means(self._layers, self._ports, self._cache, stamp, self._ask_model, run.text_of)

    def reading(self) -> AbstractContextManager[int]:
        """Have this thread answer from one generation."""
        return self._reading()

    def definition(self, name: str) -> Loaded[RetrievalDefinition]:
        """Return a definition by its name; raises as `Library.runnable`."""
        return self._library().runnable("retrieval", name)


def _asks_model(want: SourceRequest) -> bool:
    """Return whether a source waits for a language model."""
    steps = want.definition.value.steps if want.definition is not None else ()
    return any(isinstance(step, DeriveQuery) and step.method == "llm_rephrase" for step in steps)


def _shipped_s(loaded: Loaded[RetrievalDefinition]) -> float:
    """Built-in definitions may use their own time limit."""
    return loaded.value.timeout_seconds if loaded.file.startswith("shipped:") else 0.0


@dataclass(slots=True)
class _Pending:
    """A source that is being read."""

    want: SourceRequest
    started: float | None = None
    outcome: Outcome | None = None
    generation: int = 0
    done: threading.Event = field(default_factory=threading.Event)


class _Run:
    """One reading of all sources of an assembly."""

    def __init__(self, reader: MemoryReader, task: Task, wanted: Sequence[SourceRequest], generation: int) -> None:
        self._reader = reader
        self.task = task
        self.generation = generation
        self.ended = threading.Event()
        self._begun = time.perf_counter()
        self._lock = threading.Lock()
        self._steps: dict[str, list[AssemblyStep]] = {}
        self._pending = {want.id: _Pending(want) for want in wanted}
        self._wanted = [want.id for want in wanted]
        self._waiting: list[_Pending] = []
        self._left_behind = 0
        self.means = reader.means(self)

    def outcomes(self) -> dict[str, Outcome]:
        """Read all of them, and wait for each as long as it may take."""
        for id_ in self._wanted:
            one = self._pending[id_]
            if _asks_model(one.want):
                # A source that waits for another one does not block other reads.
                self._start([one])
            else:
                self._waiting.append(one)
        for _ in self._waiting[:WORKERS]:
            self._start(self._waiting)
        found = {id_: self._awaited(self._pending[id_]) for id_ in self._wanted}
        self.ended.set()
        for id_, outcome in found.items():
            one = self._pending[id_]
            if one.done.is_set() and one.generation != self.generation and not outcome.error:
                # The index changed between two threads: all results must be of one generation.
                found[id_] = self._retry(one.want)
        return found

    def _start(self, waiting: Sequence[_Pending]) -> None:
        # Not a pool: a hanging thread is abandoned, and ends with the process.
        threading.Thread(target=self._work, args=(waiting,), name="cm-assembly", daemon=True).start()

    def _work(self, waiting: Sequence[_Pending]) -> None:
        if self.ended.is_set():
            return
        try:
            with self._reader.reading() as generation:
                while (one := self._next(waiting)) is not None:
                    self._read(one, generation)
        except CmError as error:
            # After the run has ended, a closed store is no error: then no source is left.
            while (one := self._next(waiting)) is not None:
                one.outcome = Outcome(error=_in_full(error))
                one.done.set()

    def _next(self, waiting: Sequence[_Pending]) -> _Pending | None:
        """Claim and return the next unread source; None if no source is left or the run has ended."""
        return next((one for one in waiting if not self.ended.is_set() and self._claim(one)), None)

    def _claim(self, one: _Pending) -> bool:
        with self._lock:
            if one.started is not None:
                return False
            one.started = time.perf_counter()
            return True

    def _read(self, one: _Pending, generation: int) -> None:
        one.generation = generation
        one.outcome = self._reader.one(self, one.want)
        one.done.set()

    def _retry(self, want: SourceRequest) -> Outcome:
        with self._lock:
            self._steps.pop(want.id, None)
        self.ended.clear()
        try:
            return self._reader.one(self, want)
        finally:
            self.ended.set()

    def _awaited(self, one: _Pending) -> Outcome:
        allowed = self._reader.seconds_of(one.want)
        # A source that has not begun waits for the others, at most as long as all of them may take.
        last = self._begun + allowed * (1 + len(self._wanted) / WORKERS)
        while not one.done.is_set():
            until = one.started + allowed if one.started is not None else last
            left = min(until, last) - time.perf_counter()
            if left <= 0:
                return self._too_late(one, allowed)
            one.done.wait(min(left, 0.05) if one.started is None else left)
        assert one.outcome is not None
        return one.outcome

    def _too_late(self, one: _Pending, allowed: float) -> Outcome:
        started = one.started if one.started is not None else time.perf_counter()
        is_one_left = any(other.started is None for other in self._waiting)
        if one.started is not None and self._left_behind < _LEFT_BEHIND and is_one_left:
            self._left_behind += 1
            self._start(self._waiting)
        steps = self.steps_of(one.want.id)
        begun = steps[-1].start_ms + steps[-1].ms if steps else self.since(started)
        name = _next_step(one.want, len(steps))
        late = AssemblyStep(one.want.id, name, begun, max(0.0, self.since(time.perf_counter()) - begun), 0, "timeout")
        what = f"It took more than {allowed:g} s" if one.started is not None else "It was not started in time"
        return Outcome(error=f"{what} and was skipped.", steps=(*steps, late), ms=_ms(started))

    def text_of(self, name: str) -> str:
        """Return the output of another definition, which is read only once."""
        id_ = f"definition://{name}"
        with self._lock:
            one = self._pending.setdefault(id_, _Pending(SourceRequest(id_)))
        if one.want.definition is None:
            one.want = replace(one.want, definition=self._reader.definition(name))
        if self._claim(one):
            self._read(one, self.generation)
        one.done.wait(self._reader.seconds_of(one.want))
        if one.outcome is None:
            raise CmError(f"The definition {name!r} took too long.")
        if one.outcome.error:
            raise CmError(f"The definition {name!r} failed: {one.outcome.error}")
        return one.outcome.text

    def note(self, source: str, step: AssemblyStep) -> None:
        """Note a step."""
        with self._lock:
            self._steps.setdefault(source, []).append(step)

    def steps_of(self, source: str) -> tuple[AssemblyStep, ...]:
        """Return the steps of a source so far."""
        with self._lock:
            return tuple(self._steps.get(source, ()))

    def since(self, moment: float) -> float:
        """Return milliseconds from the beginning to a moment."""
        return (moment - self._begun) * 1_000


def _next_step(want: SourceRequest, done: int) -> str:
    if want.definition is None:
        return "read"
    steps: Sequence[Any] = want.definition.value.steps
    return str(steps[min(done, len(steps) - 1)].type)


def _in_full(error: CmError) -> str:
    return f"{error.message} {error.hint}" if error.hint else error.message


def _ms(begun: float) -> float:
    return (time.perf_counter() - begun) * 1_000
