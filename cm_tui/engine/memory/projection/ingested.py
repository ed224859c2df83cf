"""Pipelines' output in the journal: texts of an index, entities and relations, and custom events."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cm_tui.engine.memory.projection.journal_source import JournalSource, name_in_path
from cm_tui.engine.platform.journal.event import ERASURE, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.engine.search.ranking.source import SourcePassage
from cm_tui.model.definition import INGESTED

# --- the source of ingested texts: pipelines' output for semantic search, one event of the journal each ---

KIND = "ingest.vector"
"""Kind of the events: {index, text, metadata}."""
INDEX = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_TITLE = 200


class IngestedSource(JournalSource):
    """Passages of pipelines' output."""

    name = INGESTED
    kind = KIND
    key = "ingested"
    words = "Texts from pipelines are"

    def passages_of(self, event: Event) -> Iterator[SourcePassage]:
        """Yield the passage of a text, if it and its index are valid."""
        index, text = str(event.data.get("index", "")), event.data.get("text")
        if not INDEX.fullmatch(index) or not isinstance(text, str) or not text.strip():
            return
        clean = text if event.is_clean else redact(text).text
        metadata = event.data.get("metadata")
        named = metadata.get("title") if isinstance(metadata, dict) else None
        title = str(named or clean.strip().split("\n", 1)[0])[:_TITLE]
        path, lines = f"vector/{index}/{name_in_path(event.id)}", clean.count("\n") + 1
        yield SourcePassage(path, 1, lines, title, clean, time=int(min(event.time, 2.0**40)))


# --- pipelines' output in the journal ---

VECTOR, GRAPH, LOG = KIND, "ingest.graph", "ingest.log"
"""Kinds of events: {index, text, metadata}, {entities, relations}, {type, fields}."""
KINDS = frozenset((VECTOR, GRAPH, LOG))
MOST = 200_000
"""Most entities and relations in memory."""


class Entity(NamedTuple):
    """A subject of texts."""

    name: str
    type: str


class Relation(NamedTuple):
    """Two entities, and what one is to the other."""

    source: str
    type: str
    target: str


def write_text(
    journal: Journal, index: str, text: str, metadata: Mapping[str, Any], *, origin: Sequence[str] = (), item: str = ""
) -> Event:
    """Write a text for semantic search.

    Raises UsageError if it is too long; StoreError if the journal cannot be written.
    """
    data = {"index": index, "text": text, "metadata": dict(metadata), "origin_events": list(origin), "item": item}
    return journal.append(VECTOR, data)


def write_graph(
    journal: Journal,
    entities: Sequence[Entity],
    relations: Sequence[Relation],
    *,
    origin: Sequence[str] = (),
    item: str = "",
) -> Event:
    """Write entities and relations.

    Raises UsageError if there are too many; StoreError if the journal cannot be written.
    """
    return journal.append(GRAPH, {
        "entities": [{"name": one.name, "type": one.type} for one in entities],
        "relations": [{"from": one.source, "type": one.type, "to": one.target} for one in relations],
        "origin_events": list(origin), "item": item,
    })  # fmt: skip


def write_log(
    journal: Journal, type_: str, fields: Mapping[str, Any], *, origin: Sequence[str] = (), item: str = ""
) -> Event:
    """Write an event of a pipeline's own type.

    Raises UsageError if it is too long; StoreError if the journal cannot be written.
    """
    return journal.append(LOG, {"type": type_, "fields": dict(fields), "origin_events": list(origin), "item": item})


def origins_of(event: Event) -> frozenset[str]:
    """Return the source events of a pipeline's output; empty for other events."""
    origins = event.data.get("origin_events") if event.kind in KINDS else None
    return frozenset(map(str, origins)) if isinstance(origins, list) else frozenset()


class KnowledgeGraph:
    """Entities and relations from pipelines, updated as the journal grows; thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._at: Position = START
        self._last = ""
        self._by_event: dict[str, tuple[tuple[Entity, ...], tuple[Relation, ...]]] = {}

    def entities(self, type_: str = "") -> list[Entity]:
        """Return entities, each once, in order of their names."""
        found = {one for entities, _ in self._read() for one in entities if not type_ or one.type == type_}
        return sorted(found)

    def relations(self, entity: str = "", type_: str = "") -> list[Relation]:
        """Return relations, each once; of one entity, or of all."""
        found = {
            one
            for _, relations in self._read()
            for one in relations
            if (not entity or entity in (one.source, one.target)) and (not type_ or one.type == type_)
        }
        return sorted(found)

    def _read(self) -> list[tuple[tuple[Entity, ...], tuple[Relation, ...]]]:
        with self._lock:
            if not self._journal.holds(self._at, self._last):
                self._at, self._last, self._by_event = START, "", {}
            for event in self._journal.read(self._at):
                self._at, self._last = event.position, event.id
                if event.kind == ERASURE:
                    for gone in event.data.get("ids", ()):
                        self._by_event.pop(str(gone), None)
                elif event.kind == GRAPH and len(self._by_event) < MOST:
                    self._by_event[event.id] = _parts(event.data)
            return list(self._by_event.values())


def _parts(data: Mapping[str, Any]) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    def fields(name: str, *keys: str) -> Iterator[list[str]]:
        found = data.get(name)
        for one in found if isinstance(found, list) else ():
            if isinstance(one, Mapping):
                yield [str(one.get(key, "")) for key in keys]

    entities = tuple(Entity(*one) for one in fields("entities", "name", "type"))
    return entities, tuple(Relation(*one) for one in fields("relations", "from", "type", "to"))
