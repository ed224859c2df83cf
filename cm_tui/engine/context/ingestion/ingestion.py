"""Ingestion of one project: pipelines over events and over the user's input; nothing is ingested twice."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, TypeAdapter

from cm_tui.engine.context.definitions.library import Library, Loaded
from cm_tui.engine.context.definitions.operators import conditions_of, prepared
from cm_tui.engine.context.definitions.shapes import Pipeline, Route, TriggerWhen, spellings
from cm_tui.engine.context.definitions.template import render
from cm_tui.engine.context.ingestion import inputs
from cm_tui.engine.context.ingestion.inputs import LONGEST_TEXT, Batch, Input, Item, Means, digest_of
from cm_tui.engine.context.ingestion.ledger import Destinations, Entry, Ledger, run_id
from cm_tui.engine.context.ingestion.processors import RUN
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.engine.memory.projection.ingested import KINDS
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.records import redact_record
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import CmError, RefusedError, UsageError
from cm_tui.model import Episode, IngestedInto, IngestRun
from cm_tui.state_file import read_record, write_json

# --- running a pipeline over one input: processors in order, then routes; a failed step's input is saved ---

_SINGULAR = {
    "items": "item",
    "chunks": "chunk",
    "records": "record",
    "entities": "entity",
    "relations": "relation",
    "input": "input",
}
_MOST_DESTINATIONS = 200


@dataclass(slots=True)
class Progress:
    """State of a run, which is saved when it fails."""

    batch: Batch
    processor: int = 0
    """The next one."""
    failed_step: str = ""
    error: str = ""
    written: Counter[str] = field(default_factory=Counter)

    @property
    def into(self) -> tuple[IngestedInto, ...]:
        """Return the written items by destination."""
        return tuple(IngestedInto(name, items) for name, items in self.written.most_common(_MOST_DESTINATIONS))


def run(pipeline: Pipeline, progress: Progress, means: Means, to: Destinations) -> None:
    """Continue a run until it ends or a step fails; `progress` records it.

    Args:
        pipeline: the pipeline.
        progress: its state, which is changed.
        means: the interface for processors.
        to: the writer.
    """
    step = ""
    try:
        for number in range(progress.processor, len(pipeline.processors)):
            processor = pipeline.processors[number]
            step = f"processors[{number}] {processor.type}"
            RUN[processor.type](processor, progress.batch, means)
            progress.processor = number + 1
        for destination, item in progress.batch.writes:
            step = f"processors {destination}"
            progress.written[to.write(destination, item)] += 1
        for number, route in enumerate(pipeline.routes):
            step = f"routes[{number}] {route.write_to}"
            _route(route, progress, to)
    except CmError as error:
        progress.failed_step = step
        progress.error = f"{error.message} {error.hint}".strip()


def _route(route: Route, progress: Progress, to: Destinations) -> None:
    name = route.foreach
    if name not in _SINGULAR:
        raise UsageError(f"Cannot iterate over {name[:40]!r}.", hint=f"Use {', '.join(_SINGULAR)}.")
    try:
        holds = prepared(conditions_of(route.condition))
    except ValueError as error:
        raise UsageError(f"The condition cannot be used: {error}.") from error
    given = progress.batch.input
    for item in progress.batch.collection(name):
        scope = {**spelt(given), **item, "input": given, "item": item, _SINGULAR[name]: item}
        if holds(scope):
            destination = _filled(route.write_to, scope)
            value = _filled(route.value, scope) if route.value else ""
            progress.written[to.write(destination, item, value, route.ttl)] += 1


def _filled(template: str, scope: Mapping[str, Any]) -> str:
    rendered = render(template, scope)
    if rendered.missing:
        raise UsageError(f"{template[:80]} uses an unknown field: {rendered.missing[0]!r}.")
    return rendered.text


def spelt(fields: Item) -> Item:
    """Return fields by both spellings of their names: `sessionId` and `session_id`."""
    both: Item = {}
    for name, value in fields.items():
        both |= dict.fromkeys((*spellings(name), name), value)
    return both


# --- position of the pipelines in a checkout's journal, and its open sessions ---

_MOST_SESSIONS = 2_000


def _position(text: Any) -> Position:
    try:
        return Position.parse(str(text))
    except UsageError as error:
        raise ValueError(error.message) from error


Place = Annotated[Position, PlainValidator(_position), PlainSerializer(str)]


@dataclass(slots=True)
class Cursor:
    """Position of the pipelines.

    Attributes:
        position: in the journal.
        event: the event there.
        begins: where each pipeline begins, by name: earlier events are not ingested automatically.
        sessions: open sessions, with the time of each one's last event.
    """

    position: Place = START
    event: str = ""
    begins: dict[str, Place] = field(default_factory=dict)
    sessions: dict[str, float] = field(default_factory=dict)


_BATCH, _CURSOR = TypeAdapter(Batch), TypeAdapter(Cursor)


# --- ingestion of one project ---

MOST_RUNS = 200
"""Most runs per call; the next call continues."""
_SHOWN = 160
_TURNS = 500


class Ingestion:
    """The pipelines of one checkout.

    Args:
        root: of the checkout.
        means: the interface for processors.
        episodes_of: returns the latest turns of a session, the newest first, without forgotten ones.
        why_not: returns why a session may not be recorded now; empty: it may.
    """

    def __init__(
        self, root: Path, means: Means, episodes_of: Callable[[str, int], Sequence[Episode]],
        why_not: Callable[[str], str],
    ) -> None:  # fmt: skip
        self._root = os.path.realpath(root)
        self._journal = Journal.of(root)
        self._kv, self._blobs = KvStore(root), Blobs(root)
        self._means = means
        self._episodes_of = episodes_of
        self._why_not = why_not
        self.ledger = Ledger(root)
        named = blake2b(os.fsencode(self._root), digest_size=8).hexdigest()
        self._cursor_file = self.ledger.folder / f"cursor-{named}.json"

    def by_hand(self, library: Library, name: str, text: str, values: Mapping[str, str]) -> IngestRun:
        """Run a pipeline over a text.

        Raises:
            NotFoundError: there is no such pipeline.
            UsageError: its file has an error, or the text is too long.
            RefusedError: it waits for trust, or recording is paused.
            StoreError: the ledger cannot be written.
        """
        pipeline = library.runnable("ingestion", name)
        if why := self._why_not(""):
            raise RefusedError(f"Nothing is ingested now: {why}")
        if len(text) > LONGEST_TEXT:
            raise UsageError(f"The text has {len(text):,} characters.", hint=f"At most {LONGEST_TEXT:,} are allowed.")
        key = digest_of(text, *(f"{name}={value}" for name, value in sorted(values.items())))
        clean, _ = redact_record({"time": time.time(), **values})
        with self.ledger.alone():
            return self._ingest(pipeline, Input("manual", key, redact(text).text, clean))

    def pending(self, library: Library) -> tuple[IngestRun, ...]:
        """Run the pipelines over new events, up to a limit.

        Raises:
            StoreError: the journal cannot be read, or the ledger not be written.
        """
        pipelines = [one for one in library.pipelines if one.value.enabled and not one.is_held]
        if not pipelines:
            return ()
        with self.ledger.alone():
            return tuple(self._pending(pipelines))

    def again(self, library: Library, name: str) -> IngestRun:
        """Repeat a failed run from the failed step.

        Raises:
            NotFoundError: there is no such run, or its input was not saved.
            RefusedError: it did not fail, its pipeline is not trusted, or recording is paused.
            StoreError: the ledger cannot be written.
        """
        with self.ledger.alone():
            entry = self.ledger.named(name)
            if entry.run.outcome != "failed":
                raise RefusedError(
                    f"The run {entry.run.id} did not fail.", hint="`cm ingest list --failed` lists failed runs."
                )
            pipeline = library.runnable("ingestion", entry.run.pipeline)
            if why := self._why_not(""):
                raise RefusedError(f"Nothing is ingested now: {why}")
            saved = self.ledger.saved_progress(entry.run.id)
            return self._resume(pipeline, entry, Progress(_BATCH.validate_python(saved["batch"]), saved["processor"]))

    # --- parts ---

    def _pending(self, pipelines: Sequence[Loaded[Pipeline]]) -> Iterator[IngestRun]:
        end = self._journal.end()
        # A missing or damaged one: pipelines begin now.
        cursor = read_record(self._cursor_file, Cursor)
        if cursor is None or not self._journal.holds(cursor.position, cursor.event):
            cursor = Cursor(end)
        for one in pipelines:
            cursor.begins.setdefault(one.value.name, end)
        runs = 0
        for event in self._journal.read(cursor.position):
            for done in self._of_event(event, pipelines, cursor):
                runs += 1
                yield done
            cursor.position, cursor.event = event.position, event.id
            if runs >= MOST_RUNS:
                break
        yield from self._of_quiet_sessions(pipelines, cursor)
        latest = sorted(cursor.sessions.items(), key=lambda one: -one[1])[:_MOST_SESSIONS]
        write_json(self._cursor_file, _CURSOR.dump_python(replace(cursor, sessions=dict(latest))))

    def _of_event(self, event: Event, pipelines: Sequence[Loaded[Pipeline]], cursor: Cursor) -> Iterator[IngestRun]:
        if event.kind in KINDS or ((about := event.text("root")) and os.path.realpath(about) != self._root):
            return
        session = event.text("session")
        if self._why_not(session):
            return
        begun = [one for one in pipelines if event.position > cursor.begins[one.value.name]]
        given = inputs.of_event(event)
        if given is not None:
            yield from self._each(begun, given)
        if session and event.kind == inputs.SESSION_END:
            cursor.sessions.pop(session, None)
            yield from self._of_session(session, begun)
        elif session:
            cursor.sessions[session] = event.time

    def _of_quiet_sessions(self, pipelines: Sequence[Loaded[Pipeline]], cursor: Cursor) -> Iterator[IngestRun]:
        now = time.time()
        for session in [one for one, last in cursor.sessions.items() if now - last > inputs.QUIET_S]:
            del cursor.sessions[session]
            if not self._why_not(session):
                yield from self._of_session(session, pipelines)

    def _of_session(self, session: str, pipelines: Sequence[Loaded[Pipeline]]) -> Iterator[IngestRun]:
        wanted = [one for one in pipelines if _trigger(one.value, "onConversationEnd") is not None]
        turns = list(reversed(self._episodes_of(session, _TURNS))) if wanted else []
        if turns:
            yield from self._each(wanted, inputs.of_session(session, turns, f"{session}:{turns[-1].id}"))

    def _each(self, pipelines: Sequence[Loaded[Pipeline]], given: Input) -> Iterator[IngestRun]:
        for one in pipelines:
            trigger = _trigger(one.value, given.trigger)
            if trigger is not None and _holds(trigger, given):
                done = self._ingest(one, given)
                if done.outcome != "known":
                    yield done

    def _ingest(self, pipeline: Loaded[Pipeline], given: Input) -> IngestRun:
        key = digest_of(pipeline.value.name, given.trigger, given.key)[:32]
        before = self.ledger.by_key(key)
        if before is not None and not before.is_open:
            return replace(before.run, outcome="known")
        shown = " ".join(given.text.split())[:_SHOWN]
        entry = before or Entry(
            IngestRun(run_id(key), pipeline.value.name, given.trigger, time.time(), "nothing", shown, event="".join(given.events[:1])),
            key, str(self._journal.end()), is_open=True, events=given.events,
        )  # fmt: skip
        if before is None:
            self.ledger.write(entry)
        return self._resume(pipeline, entry, Progress(Batch.of(given)))

    def _resume(self, pipeline: Loaded[Pipeline], entry: Entry, progress: Progress) -> IngestRun:
        begun = time.perf_counter()
        to = Destinations(
            self._journal, self._kv, self._blobs, entry.key, entry.events, frozenset(self._written(entry))
        )
        run(pipeline.value, progress, self._means, to)
        failed = bool(progress.failed_step)
        done = replace(
            entry.run,
            outcome="failed" if failed else "done" if progress.written else "nothing",
            written=progress.into,
            failed_step=progress.failed_step,
            error=redact(progress.error).text,
            ms=(time.perf_counter() - begun) * 1_000,
            attempts=entry.run.attempts + (entry.run.outcome == "failed"),
        )
        if failed:
            self.ledger.keep_input(done.id, {"batch": asdict(progress.batch), "processor": progress.processor})
        self.ledger.write(replace(entry, run=done, is_open=False, values={**entry.values, **to.values}))
        if not failed:
            self.ledger.drop_input(done.id)
        return done

    def _written(self, entry: Entry) -> Iterator[str]:
        """Yield the names of what earlier tries of a run wrote into the journal."""
        if not entry.began_at:
            return
        for event in self._journal.read(Position.parse(entry.began_at)):
            if event.kind in KINDS and (item := event.text("item")):
                yield item


def _trigger(pipeline: Pipeline, name: str) -> TriggerWhen | None:
    all_ = (one if isinstance(one, TriggerWhen) else TriggerWhen(type=one) for one in pipeline.triggers)
    return next((one for one in all_ if one.type == name), None)


def _holds(trigger: TriggerWhen, given: Input) -> bool:
    try:
        return prepared(conditions_of(trigger.condition))({**spelt(dict(given.fields)), "text": given.text})
    except ValueError:
        return False  # Reported by the check of the file.
