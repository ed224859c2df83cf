"""The recall log of a project: counts by item and reader, with the user's own data.

The file has a line for each item and reader of a request, and is rewritten as sums before it is long.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from cm_tui import paths
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError
from cm_tui.files import Stamp, read_bounded, stamp_of, write_atomically
from cm_tui.lru import LRU
from cm_tui.model import RecalledBy, Recalls
from cm_tui.state_file import holding, reported

MOST_ROWS = 20_000
"""Most items by reader: the last recalled ones."""
_LONG_BYTES = 2_000_000
"""A file of this size is rewritten as sums."""
_MOST_BYTES = 32_000_000
_NAME_CHARACTERS = 200
_REPEATED_S, _MOST_RECEIVED = 60.0, 100
"""Seconds within which the same items for the same reader count once, and how many such answers are known."""
_log = logging.getLogger(__name__)

Key = tuple[str, str]
"""An item's path, and its reader."""


class Count(NamedTuple):
    """How often, and when last."""

    times: int
    last: float

    def plus(self, other: Count | None) -> Count:
        """Return the sum of two counts."""
        return self if other is None else Count(self.times + other.times, max(self.last, other.last))


class RecallLog:
    """Counts of one project."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: tuple[Stamp, dict[Key, Count]] | None = None
        self._received: LRU[tuple[str, ...], float] = LRU(_MOST_RECEIVED)

    @classmethod
    def of(cls, root: Path) -> Self:
        """Return the log of the project at a root. Raises RefusedError if git's data cannot be opened."""
        return cls.named(folder_of(root).name)

    @classmethod
    def named(cls, project: str) -> Self:
        """Return the log of a project by the name of its journal's folder."""
        return cls(paths.data_dir() / "recalls" / f"{project}.jsonl")

    def note(self, found: Iterable[str], who: str) -> None:
        """Count items as recalled; where that cannot be written, it is logged, and the counts are lost.

        `found`: paths of the items, each counted once; `who`: `person`, or the name of an agent.
        """
        once, reader = Count(1, time.time()), who[:_NAME_CHARACTERS]
        try:
            self._add({(path[:_NAME_CHARACTERS], reader): once for path in found})
        except CmError as error:
            # A count is not worth anybody's question.
            _log.warning("%s", error.message)

    def is_repeat(self, found: Sequence[str], who: str) -> bool:
        """Return whether a reader received just these items within a minute already, as from a script that asks in a loop."""
        now, key = time.time(), (who, *found)
        before = self._received.get(key)
        self._received.put(key, now)
        return before is not None and 0 <= now - before < _REPEATED_S

    def counts(self, wanted: Collection[str] | None = None) -> dict[str, Recalls]:
        """Return the counts of recalled items by path.

        `wanted`: only of these; None: all. Raises StoreError if the file cannot be read.
        """
        rows: dict[str, list[RecalledBy]] = {}
        for (path, who), count in self._written().items():
            if wanted is None or path in wanted:
                rows.setdefault(path, []).append(RecalledBy(who, count.times, count.last))
        return {path: _sum(path, each) for path, each in rows.items()}

    def totals(self) -> Mapping[str, int]:
        """Return the written counts of items by path. Raises StoreError if the file cannot be read."""
        sums = Counter[str]()
        for (path, _), count in self._written().items():
            sums[path] += count.times
        return sums

    def forget(self, ids: Collection[str]) -> None:
        """Forget all counts of items, by their ids, wherever they are.

        Raises StoreError if the file cannot be written.
        """
        gone = set(ids)
        with self._held():
            known = self._sums()
            kept = {key: count for key, count in known.items() if _id_of(key[0]) not in gone}
            if len(kept) < len(known):
                self._write(kept)

    def drop(self) -> None:
        """Forget all that was counted. Raises StoreError if the file cannot be removed."""
        with reported(self._file, "remove"):
            self._file.unlink(missing_ok=True)

    def take_over(self, other: RecallLog) -> None:
        """Add the counts of another log, which is removed.

        Raises StoreError if one of them cannot be read or written.
        """
        found = other._written()
        if found:
            self._add(found)
        other.drop()

    # --- parts ---

    def _held(self) -> AbstractContextManager[None]:
        return holding(self._file.parent / "lock")

    def _add(self, counts: Mapping[Key, Count]) -> None:
        with self._held(), reported(self._file):
            descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                # Ends a line torn by a crash.
                file.write(b"\n" + _lines(counts))
                is_long = file.tell() > _LONG_BYTES
            if is_long:
                self._write(self._sums())

    def _write(self, counts: Mapping[Key, Count]) -> None:
        latest = sorted(counts.items(), key=lambda item: item[1].last, reverse=True)[:MOST_ROWS]
        write_atomically(self._file, _lines(dict(latest)).decode("ascii"))

    def _written(self) -> dict[Key, Count]:
        """Return what the file says; read again only when it is another one."""
        if (stamp := stamp_of(self._file)) is None:
            return {}
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._sums())
        return self._read[1]

    def _sums(self) -> dict[Key, Count]:
        content = b""
        with reported(self._file, "read"), suppress(FileNotFoundError):
            content = read_bounded(self._file, _MOST_BYTES)
        found: dict[Key, Count] = {}
        for line in content.splitlines():
            row = _row(line)
            if row is not None:
                found[row[0]] = row[1].plus(found.get(row[0]))
        return found


def _lines(counts: Mapping[Key, Count]) -> bytes:
    rows = ([path, who, count.times, round(count.last, 6)] for (path, who), count in counts.items())
    return b"".join(json.dumps(row).encode("ascii") + b"\n" for row in rows)


def _row(line: bytes) -> tuple[Key, Count] | None:
    """Return a line of the file; None: invalid, after a crash or a user's edit."""
    try:
        path, who, times, last = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return None
    if not (isinstance(path, str) and isinstance(who, str) and _is_number(times) and _is_number(last)):
        return None
    return (path, who), Count(int(times), float(last))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 2**53


def _id_of(path: str) -> str:
    return path.partition("/")[2] or path


def _sum(path: str, by: Sequence[RecalledBy]) -> Recalls:
    ordered = tuple(sorted(by, key=lambda one: (-one.last, one.who)))
    return Recalls(path, sum(one.times for one in ordered), ordered[0].last, ordered)
