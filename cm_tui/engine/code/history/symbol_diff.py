"""Differences between the symbols of two snapshots."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from cm_tui.engine.code.history import missing_blobs
from cm_tui.engine.platform.store.database import Database
from cm_tui.model import Page, Symbol, SymbolChange, SymbolKey

Bodies = dict[SymbolKey, tuple[Symbol, int]]
"""Symbols with the digests of their own lines."""

SYMBOL_COLUMNS = """f.path, s.qualname, s.name, s.kind, b.language, s.signature, s.doc, s.start_line, s.end_line,
       s.overload, p.qualname, coalesce(s.body, 0)"""
"""Fields of `Symbol`, then the digest of its own lines."""
_SYMBOLS = """
SELECT {columns}
FROM (SELECT path, blob FROM {mine} EXCEPT SELECT path, blob FROM {other}) f
JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
WHERE f.path NOT IN (SELECT o.path FROM {other} o JOIN blob a ON a.id = o.blob WHERE a.language = ?)
"""


def changes(db: Database, before: str, after: str, limit: int) -> Page[SymbolChange]:
    """Compare two relations of (path, blob), for a FROM clause."""
    found = compare(_bodies(db, before, after), _bodies(db, after, before))
    counts = Counter(change.change for change in found)
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Page(tuple(found[: max(0, limit)]), len(found), note)


def compare(before: Bodies, after: Bodies) -> list[SymbolChange]:
    """Return changes in order of path and line; a symbol with the same body elsewhere has moved."""
    found: list[SymbolChange] = []
    for key in before.keys() & after.keys():
        (old, old_body), (new, new_body) = before[key], after[key]
        if old.signature != new.signature:
            found.append(SymbolChange("signature", new, old))
        elif old_body != new_body:
            found.append(SymbolChange("changed", new, old))
    gone = {key: before[key] for key in before.keys() - after.keys()}
    came = {key: after[key] for key in after.keys() - before.keys()}
    origins = moves(_sightings(gone), _sightings(came))
    for key, (symbol, _) in came.items():
        origin = origins.get(key)
        found.append(
            SymbolChange("added", symbol) if origin is None else SymbolChange("moved", symbol, before[origin][0])
        )
    moved = set(origins.values())
    found += [SymbolChange("removed", symbol) for key, (symbol, _) in gone.items() if key not in moved]
    return sorted(found, key=lambda c: (c.symbol.path, c.symbol.start_line, c.symbol.qualname, c.change))


class Sighting(NamedTuple):
    """An added or removed symbol, with what identifies it elsewhere."""

    key: SymbolKey
    name: str
    body: int
    line: int


def moves(gone: Iterable[Sighting], came: Iterable[Sighting]) -> dict[SymbolKey, SymbolKey]:
    """Return the former places of added symbols: removed ones with the same body, each used once.

    The same qualified name goes first, then the same name, then any; in order of path and line.
    """
    waiting: defaultdict[tuple[str, int], list[Sighting]] = defaultdict(list)
    for one in sorted(gone, key=_position):
        waiting[one.key.kind, one.body].append(one)
    new = [one for one in sorted(came, key=_position) if (one.key.kind, one.body) in waiting]
    found: dict[SymbolKey, SymbolKey] = {}
    for alike in (_same_qualname, _same_name, _any):
        for one in new:
            left = waiting[one.key.kind, one.body]
            best = next((other for other in left if alike(one, other)), None) if one.key not in found else None
            if best is not None:
                found[one.key] = best.key
                left.remove(best)
    return found


def _same_qualname(one: Sighting, other: Sighting) -> bool:
    return one.key.qualname == other.key.qualname


def _same_name(one: Sighting, other: Sighting) -> bool:
    return one.name == other.name


def _any(_one: Sighting, _other: Sighting) -> bool:
    return True


def _position(one: Sighting) -> tuple[str, int, str, int]:
    return one.key.path, one.line, one.key.qualname, one.key.overload


def _sightings(bodies: Bodies) -> list[Sighting]:
    return [Sighting(key, symbol.name, body, symbol.start_line) for key, (symbol, body) in bodies.items()]


def _bodies(db: Database, mine: str, other: str) -> Bodies:
    # A file without content cannot be compared.
    rows = db.rows(_SYMBOLS.format(columns=SYMBOL_COLUMNS, mine=mine, other=other), [missing_blobs.LANGUAGE])
    pairs = ((Symbol(*row[:-1]), row[-1]) for row in rows)
    return {symbol.key: (symbol, body) for symbol, body in pairs}
