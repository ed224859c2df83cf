"""Running a pipeline over one input: processors in order, then routes; a failed step's input is saved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cm_tui.engine.context.definitions.operators import conditions_of, prepared
from cm_tui.engine.context.definitions.shapes.ingestion import Pipeline, Route
from cm_tui.engine.context.definitions.template import render
from cm_tui.engine.context.ingestion.destinations import Destinations
from cm_tui.engine.context.ingestion.inputs import Batch, Item, Means
from cm_tui.engine.context.ingestion.processors import RUN
from cm_tui.errors import CmError, UsageError
from cm_tui.model import IngestedInto

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

    def to_plain(self) -> dict[str, Any]:
        """Return it as JSON types."""
        return {"batch": self.batch.to_plain(), "processor": self.processor}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Progress:
        """Parse saved progress."""
        return cls(Batch.from_plain(plain["batch"]), int(plain["processor"]))


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
        raise UsageError(f"There is nothing to go over by {name[:40]!r}.", hint=f"Use {', '.join(_SINGULAR)}.")
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
        raise UsageError(f"{template[:80]} names {rendered.missing[0]!r}, and there is no such field.")
    return rendered.text


def spelt(fields: Item) -> Item:
    """Return fields by both spellings of their names: `sessionId` and `session_id`."""
    both: Item = {}
    for name, value in fields.items():
        head, *rest = name.split("_")
        both[head + "".join(one.capitalize() for one in rest)] = value
        both["".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)] = value
        both[name] = value
    return both
