"""The ledger of runs, so that nothing is ingested twice, and the destinations where routes write."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cm_tui import paths
from cm_tui.engine.context.definitions.template import parsed_value, plain
from cm_tui.engine.context.ingestion.inputs import Item, digest_of
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.engine.memory.projection import ingested
from cm_tui.engine.memory.projection.ingested import INDEX, Entity, Relation
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError, NotFoundError, StoreError, UsageError
from cm_tui.files import PRIVATE, stamp_of, write_atomically
from cm_tui.model import IngestRun
from cm_tui.model.ids import id_named
from cm_tui.state_file import holding, read_object, reported, write_json

# --- the ledger of runs, so that nothing is ingested twice, with the input of failed ones ---

# It has a JSON line for each start and end of a run; the last line of a run counts. It is next to the journal.

MOST_RUNS = 20_000
"""Most runs to remember; the oldest are dropped first, and their input could then be ingested again."""
_LONG_BYTES = 8_000_000
_MOST_BYTES = 64_000_000
_MOST_INPUT = 8_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A run, and its key."""

    run: IngestRun
    key: str
    began_at: str = ""
    """End of the journal at its start: its output comes after that."""
    is_open: bool = False
    """Begun and not ended: its process was killed, or is at work."""
    events: tuple[str, ...] = ()
    """All events that it came from."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Digests of the values that it wrote, by their keys."""


_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def run_id(key: str) -> str:
    """Return the id of the run with a key."""
    return key[:12]


class Ledger:
    """The runs of one project; used from any thread and process."""

    def __init__(self, root: Path) -> None:
        self.folder = folder_of(root) / "ingestion"
        self._file = self.folder / "ledger.jsonl"
        self._lock = threading.RLock()
        self._entries: dict[str, Entry] = {}
        self._read_to = 0
        self._inode = 0

    def alone(self) -> AbstractContextManager[None]:
        """Hold the lock against other ingestions.

        Raises:
            StoreError: another process ingests for too long, or the folder cannot be used.
        """
        return holding(self.folder / "lock")

    def all(self) -> list[Entry]:
        """Return every run, the newest first."""
        with self._lock:
            self._follow()
            return list(reversed(self._entries.values()))

    def by_key(self, key: str) -> Entry | None:
        """Return the earlier run for the same input."""
        with self._lock:
            self._follow()
            found = self._entries.get(run_id(key))
            return found if found is not None and found.key == key else None

    def named(self, name: str) -> Entry:
        """Return a run by its id, or a unique prefix of it.

        Raises:
            NotFoundError: no run has that name.
            UsageError: the name is ambiguous.
        """
        found = {one.run.id: one for one in self.all()}
        return found[id_named(name, found, "run", "`cm ingest list` lists them.", least=1)]

    def write(self, entry: Entry) -> None:
        """Record a run; replaces its earlier record.

        Raises:
            StoreError: it cannot be written.
        """
        with self._lock:
            self._append(_line(entry).encode())
            self._follow()
            if self._read_to > _LONG_BYTES or len(self._entries) > MOST_RUNS:
                self._rewrite()

    def keep_input(self, run: str, plain: Mapping[str, Any]) -> None:
        """Save the progress of a failed run.

        Raises:
            StoreError: it cannot be written, or is too long.
        """
        text = json.dumps(plain, ensure_ascii=True, default=str)
        if len(text) > _MOST_INPUT:
            raise StoreError(f"The input of the run {run} is too long to be saved.")
        write_json(self._input(run), json.loads(text))

    def saved_progress(self, run: str) -> dict[str, Any]:
        """Return the progress of a failed run.

        Raises:
            NotFoundError: it was not saved.
        """
        found = read_object(self._input(run), _MOST_INPUT)
        if not found:
            raise NotFoundError(f"The input of the run {run} was not saved.", hint="Ingest it again manually.")
        return found

    def drop_input(self, run: str) -> None:
        """Drop the saved input of a run."""
        self._input(run).unlink(missing_ok=True)

    def forget(self, events: frozenset[str]) -> list[Entry]:
        """Remove input and output of runs over erased events; return these runs.

        Raises:
            StoreError: it cannot be written.
        """
        with self._lock:
            gone = [one for one in self.all() if one.run.input and not events.isdisjoint(one.events)]
            if not gone:
                return []
            for one in gone:
                self.drop_input(one.run.id)
                bare = replace(one.run, input="", error="", written=())
                self._entries[one.run.id] = replace(one, run=bare, values={})
            # The old lines are removed with the file.
            self._rewrite()
            return gone

    # --- parts ---

    def _input(self, run: str) -> Path:
        return self.folder / "inputs" / f"{run}.json"

    def _append(self, line: bytes) -> None:
        with reported(self._file):
            paths.private_dir(self.folder)
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE)
            with os.fdopen(descriptor, "a+b") as stream:
                if stream.tell():
                    stream.seek(-1, os.SEEK_END)
                    # Ends a line torn by a crash.
                    line = line if stream.read(1) == b"\n" else b"\n" + line
                stream.write(line)
                stream.flush()
                os.fsync(stream.fileno())

    def _follow(self) -> None:
        """Read new lines; of a replaced file, all of them."""
        now = stamp_of(self._file)
        if now is None or now.inode != self._inode or now.size < self._read_to:
            self._entries.clear()
            self._read_to, self._inode = 0, now.inode if now is not None else 0
        if now is None or now.size == self._read_to:
            return
        with self._file.open("rb") as stream:
            stream.seek(self._read_to)
            data = stream.read(_MOST_BYTES)
        whole = data[: data.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            entry = _ENTRY.validate_python(json.loads(line))
        except ValueError:
            return  # A torn line: the run that it was about is begun again.
        self._entries[entry.run.id] = entry

    def _rewrite(self) -> None:
        kept = list(self._entries.values())[-MOST_RUNS:]
        text = "".join(_line(one) for one in kept)
        with reported(self._file):
            write_atomically(self._file, text, durable=True)
        self._inode = 0
        self._follow()


def _line(entry: Entry) -> str:
    return json.dumps(asdict(entry), ensure_ascii=True) + "\n"


# --- removing pipelines' output for erased events: values, blobs, and the ledger's data ---

_BLOB = "blob://"


def forget(root: Path, events: Collection[str]) -> tuple[str, ...]:
    """Remove the output of erased events; return values that stay because they were changed since.

    Output in the journal is erased with its events.

    Args:
        root: of the checkout.
        events: ids of erased events.

    Raises:
        StoreError: the ledger cannot be written.
    """
    ledger = Ledger(root)
    gone = ledger.forget(frozenset(events))
    if not gone:
        return ()
    kept = {into.destination for one in ledger.all() for into in one.run.written}
    blobs, kv = Blobs(root), KvStore(root)
    stays: list[str] = []
    for one in gone:
        for into in one.run.written:
            if into.destination.startswith(_BLOB) and into.destination not in kept:
                blobs.remove(into.destination.removeprefix(_BLOB))
        stays += [f"kv://{key}" for key, digest in one.values.items() if not _removed(kv, key, digest)]
    return tuple(dict.fromkeys(stays))


def _removed(kv: KvStore, key: str, digest: str) -> bool:
    """Remove a value if it is the written one; return whether nothing of it is left."""
    try:
        found = kv.get(key)
        if found is None:
            return True
        return value_digest(found.value) == digest and kv.remove(key, only=found.value)
    except CmError:
        return False


# --- destinations: where routes write, each item once however often a run is begun ---

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
