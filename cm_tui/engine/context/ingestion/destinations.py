"""Destinations: where routes write, each item once however often a run is begun."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cm_tui.engine.context.definitions.template import parsed_value, plain
from cm_tui.engine.context.ingestion.inputs import Item, digest_of
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.engine.memory.projection import ingested
from cm_tui.engine.memory.projection.ingested import INDEX, Entity, Relation
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import UsageError

_TYPE = re.compile(r"[A-Za-z][\w.-]{0,63}")
_TEXT = 200_000
_OURS = frozenset({"index", "digest", "text"})
"""Keys of an item that its destination does not store as fields."""


@dataclass(frozen=True, slots=True)
class _Write:
    """One written item."""

    path: str
    item: Item
    text: str
    ttl: float | None
    name: str
    """Its key in an earlier attempt."""


class Destinations:
    """Writes the items of one run.

    Args:
        journal: the project's.
        kv: its values.
        blobs: its blobs.
        key: of the run: together with the item it identifies the output.
        origin: the source events.
        done: names written by an earlier attempt of the run.
    """

    def __init__(
        self, journal: Journal, kv: KvStore, blobs: Blobs, key: str, origin: Sequence[str], done: frozenset[str]
    ) -> None:
        self._journal = journal
        self._kv = kv
        self._blobs = blobs
        self._key = key
        self._origin = tuple(origin)
        self.values: dict[str, str] = {}
        """Digests of the values that were written, by their keys."""
        self._done = set(done)
        self._to: Mapping[str, Callable[[_Write], str]] = {
            "kv": self._to_kv,
            "log": self._to_log,
            "vector": self._to_vector,
            "graph": self._to_graph,
            "blob": lambda one: f"blob://{self._blobs.write(one.text.encode('utf-8', 'replace'))}",
        }

    def write(self, destination: str, item: Item, value: str = "", ttl: float | None = None) -> str:
        """Write an item, unless an earlier attempt did; return its name there.

        Args:
            destination: with variables filled in.
            item: the item.
            value: written instead of its text; empty: the text.
            ttl: seconds until a value expires.

        Raises:
            UsageError: the destination is invalid, or does not accept this.
            StoreError: it cannot be written.
        """
        scheme, _, path = destination.partition("://")
        writer = self._to.get(scheme)
        if writer is None:
            raise UsageError(
                f"Not a destination: {destination[:80]!r}.", hint="Use kv://, log://, vector://, graph:// or blob://."
            )
        text = (value or plain(item.get("text")))[:_TEXT]
        name = digest_of(self._key, destination, text, json.dumps(item, sort_keys=True, default=str))[:32]
        written = writer(_Write(path, item, text, ttl, name))
        self._done.add(name)
        return written

    def _to_kv(self, one: _Write) -> str:
        if set(one.path) & set("*?"):
            raise UsageError(f"Not a key: {one.path[:60]!r}.", hint="A key has no * and no ?.")
        value = parsed_value(one.text)
        self._kv.put(one.path, value, one.ttl)
        self.values[one.path] = value_digest(value)
        return f"kv://{one.path}"

    def _to_log(self, one: _Write) -> str:
        if not _TYPE.fullmatch(one.path):
            raise UsageError(f"Not an event type: {one.path[:60]!r}.", hint="Use letters, digits, dots, - and _.")
        if one.name not in self._done:
            fields = {**_fields(one.item), "text": one.text}
            ingested.write_log(self._journal, one.path, fields, origin=self._origin, item=one.name)
        return f"log://{one.path}"

    def _to_vector(self, one: _Write) -> str:
        if not INDEX.fullmatch(one.path):
            raise UsageError(f"Not an index name: {one.path[:60]!r}.", hint="Use letters, digits, - and _.")
        if one.name not in self._done and one.text.strip():
            fields = _fields(one.item)
            ingested.write_text(self._journal, one.path, one.text, fields, origin=self._origin, item=one.name)
        return f"vector://{one.path}"

    def _to_graph(self, one: _Write) -> str:
        item = one.item
        entities: tuple[Entity, ...] = ()
        relations: tuple[Relation, ...] = ()
        if {"from", "to"} <= item.keys():
            relations = (Relation(str(item["from"]), str(item.get("type", "")), str(item["to"])),)
        elif item.get("name"):
            entities = (Entity(str(item["name"]), str(item.get("type", ""))),)
        else:
            raise UsageError(
                "The item is neither an entity nor a relation.", hint="Give a name and a type, or from, type and to."
            )
        if one.name not in self._done:
            ingested.write_graph(self._journal, entities, relations, origin=self._origin, item=one.name)
        return "graph://"


def _fields(item: Item) -> dict[str, Any]:
    """Return an item's data besides its text, up to a limit."""
    kept: dict[str, Any] = {}
    for name, value in item.items():
        if name not in _OURS and len(kept) < 40:
            text = plain(value)
            kept[str(name)[:100]] = value if len(text) <= 2_000 else text[:2_000]
    return kept


def value_digest(value: Any) -> str:
    """Return the digest of a value."""
    return digest_of(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str))
