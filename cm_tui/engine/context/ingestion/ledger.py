"""The ledger of runs, so that nothing is ingested twice, with the input of failed ones.

It has a JSON line for each start and end of a run; the last line of a run counts. It is next to the journal.
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from cm_tui import paths
from cm_tui.engine.context.ingestion.destinations import value_digest
from cm_tui.engine.context.layers.blobs import Blobs
from cm_tui.engine.context.layers.kv import KvStore
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError, NotFoundError, StoreError
from cm_tui.files import PRIVATE, stamp_of, write_atomically
from cm_tui.model import IngestRun
from cm_tui.model.ids import id_named
from cm_tui.state_file import holding, read_object, reported, write_json

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


class Ledger:
    """The runs of one project; used from any thread and process."""

    def __init__(self, root: Path) -> None:
        self.folder = folder_of(root) / "ingestion"
        self._file = self.folder / "ledger.jsonl"
        self._lock = threading.RLock()
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._by_key: dict[str, str] = {}
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
            return self._entries.get(self._by_key.get(key, ""))

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
            self._by_key.clear()
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
        self._by_key[entry.key] = entry.run.id

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
