"""The store's data on passages, cached in memory."""

from __future__ import annotations

import marshal
import time
from collections import defaultdict
from collections.abc import Sequence
from itertools import starmap
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.traits import Definition, Owner, Traits, traits_of
from cm_tui.lru import LRU

_KEPT, _BYTES_EACH = 100_000, 800
"""Records in memory, as bytes, as a million small objects would leave holes in it: of code they have so many on average; of
longer ones fewer are kept."""
_STEP = 500
_PAUSE = 0.005
"""Least seconds between two steps; at most half of the time is taken from requests."""

_PASSAGES = """
SELECT p.id, p.source, p.path, p.start_line, p.end_line, p.text, p.time,
       coalesce(b.language, 'markdown'), coalesce(b.generated, false)
FROM passage p LEFT JOIN blob b ON b.id = p.blob
WHERE p.id IN (SELECT unnest(?::BIGINT[]))
"""

_SYMBOLS = """
SELECT p.id, coalesce(s.idx = p.symbol, false), s.start_line BETWEEN p.start_line AND p.end_line,
       s.start_line, s.name, s.qualname, s.kind, s.parent IS NOT NULL, s.end_line - s.start_line + 1
FROM passage p
JOIN symbol s ON s.blob = p.blob AND (s.start_line BETWEEN p.start_line AND p.end_line OR s.idx = p.symbol)
WHERE p.id IN (SELECT unnest(?::BIGINT[]))
ORDER BY p.id, s.idx
"""


_DEFINING = """
SELECT DISTINCT p.id FROM symbol s
JOIN passage p ON p.blob = s.blob AND s.start_line BETWEEN p.start_line AND p.end_line
WHERE s.name IN (SELECT unnest(?)) ORDER BY p.id LIMIT ?
"""
_CALLED = """
SELECT DISTINCT path FROM passage
WHERE source = 'code' AND list_contains(?, string_split(path, '/')[-1]) ORDER BY path
"""
MOST_DEFINING = 500
"""The most definitions of a name for which one of them can be meant."""


class PassageRecord(NamedTuple):
    """A passage with its own and its defined symbols. Ids are never reused, so it never changes."""

    owner: Owner | None
    definitions: tuple[Definition, ...]
    traits: Traits
    """Those that do not depend on the query."""
    id: int
    source: str
    path: str
    start_line: int
    end_line: int
    text: str
    time: int | None
    language: str
    generated: bool


class PassageCache:
    """The last used records by passage id. Thread-safe."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._records: LRU[int, bytes] = LRU(_KEPT * _BYTES_EACH, _weight)

    def get(self, ids: Sequence[int]) -> list[PassageRecord]:
        """Return records in order of path and line; removed passages are skipped."""
        packed = {id_: text for id_ in ids if (text := self._records.get(id_)) is not None}
        found = []
        for id_, text in (packed | self._read([id_ for id_ in ids if id_ not in packed])).items():
            values = marshal.loads(text)  # noqa: S302 - packed below, in this process
            if values[2] is None:
                values = (*values[:2], _traits_of(values), values[3])
                self._records.put(id_, marshal.dumps(values))
            found.append(_record(values))
        return sorted(found, key=lambda record: (record.path, record.start_line, record.end_line, record.id))

    def at(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """Return the ids of the passages of some paths."""
        rows = self._db.rows("SELECT id FROM passage WHERE path IN (SELECT unnest(?))", [list(paths)])
        return np.array([row[0] for row in rows], dtype=np.int64)

    def times(self, sources: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the ids of the dated passages of some sources, ascending, and when each was written."""
        rows: Any = self._db.cursor.execute(
            "SELECT id, time FROM passage WHERE time IS NOT NULL AND source IN (SELECT unnest(?)) ORDER BY id",
            [list(sources)],
        ).fetchnumpy()
        return np.asarray(rows["id"], dtype=np.int64), np.asarray(rows["time"], dtype=np.float64)

    def called(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Return the paths of the files of some names, by name."""
        found: dict[str, list[str]] = {}
        for (path,) in self._db.rows(_CALLED, [list(names)]):
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found

    def defining(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the ids of the passages in which symbols of some names begin, ascending."""
        rows = self._db.rows(_DEFINING, [list(names), MOST_DEFINING])
        return np.array([row[0] for row in rows], dtype=np.int64)

    def read_all(self, stop: Event) -> None:
        """Load records in small steps, so that requests do not wait, until `stop` is set."""
        ids, kept = self._db.rows("SELECT id FROM passage ORDER BY id LIMIT ?", [_KEPT]), set(self._records)
        wanted, pause = [id_ for (id_,) in ids if id_ not in kept], _PAUSE
        for start in range(0, len(wanted), _STEP):
            if stop.wait(pause):
                return
            begun = time.monotonic()
            # What was requested stays: only free room is filled.
            for id_, packed in self._read(wanted[start : start + _STEP]).items():
                if self._records.left < _weight(packed):
                    return
                self._records.put(id_, packed)
            pause = max(_PAUSE, time.monotonic() - begun)

    def _read(self, ids: Sequence[int]) -> dict[int, bytes]:
        if not ids:
            return {}
        wanted = [list(map(int, ids))]
        owners: dict[int, tuple[Any, ...]] = {}
        defined: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for id_, own, begins, line, name, qualname, kind, *rest in self._db.rows(_SYMBOLS, wanted):
            if own:
                owners[id_] = (qualname, name, kind, line)
            if begins:
                defined[id_].append((name, qualname, kind, *rest))
        rows = self._db.rows(_PASSAGES, wanted)
        return {row[0]: marshal.dumps((owners.get(row[0]), defined.get(row[0], ()), None, row)) for row in rows}


def _weight(packed: bytes) -> int:
    return max(_BYTES_EACH, len(packed))


def _traits_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the traits of an unpacked record: they are kept with it once it is first a candidate."""
    owner, definitions, _, row = values
    owner = None if owner is None else Owner(*owner)
    return tuple(traits_of(row[2], row[5], owner, [Definition(*one) for one in definitions]))


def _record(values: tuple[Any, ...]) -> PassageRecord:
    owner, definitions, traits, row = values
    owner = None if owner is None else Owner(*owner)
    return PassageRecord(owner, tuple(starmap(Definition, definitions)), Traits(*traits), *row)
