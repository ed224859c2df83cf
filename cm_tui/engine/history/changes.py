"""What became of symbols between two states of the code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from cm_tui.engine.store.database import Database
from cm_tui.model import Page, Symbol, SymbolChange, SymbolKey
from cm_tui.model.time import Change

Bodies = dict[SymbolKey, tuple[Symbol, int]]
"""Symbols with the digests of their own lines."""

_SYMBOLS = """
SELECT f.path, s.qualname, s.name, s.kind, b.language, s.signature, s.doc, s.start_line, s.end_line, s.overload, p.qualname,
       coalesce(s.body, 0)
FROM (SELECT path, blob FROM {mine} EXCEPT SELECT path, blob FROM {other}) f
JOIN blob b ON b.id = f.blob JOIN symbol s ON s.blob = f.blob
LEFT JOIN symbol p ON p.blob = s.blob AND p.idx = s.parent
"""


def changes(db: Database, before: str, after: str, limit: int) -> Page[SymbolChange]:
    """Compare two relations of (path, blob), as they may stand after FROM."""
    found = compare(_of(db, before, after), _of(db, after, before))
    counts = Counter(change.change for change in found)
    note = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Page(tuple(found[: max(0, limit)]), len(found), note)


def compare(before: Bodies, after: Bodies) -> list[SymbolChange]:
    """Changes in order of path and line; what has the same body elsewhere has moved."""
    found: list[SymbolChange] = []
    for key in before.keys() & after.keys():
        (old, old_body), (new, new_body) = before[key], after[key]
        if old.signature != new.signature:
            found.append(SymbolChange("signature", new, old))
        elif old_body != new_body:
            found.append(SymbolChange("changed", new, old))
    gone = {key: before[key] for key in before.keys() - after.keys()}
    origins = _Origins(gone)
    for key, (symbol, _) in _in_order((key, after[key]) for key in after.keys() - before.keys()):
        origin = origins.take(symbol, after[key][1])
        change: Change = "moved" if origin is not None else "added"
        found.append(SymbolChange(change, symbol, origin))
    moved = {change.before.key for change in found if change.change == "moved" and change.before is not None}
    found += [SymbolChange("removed", symbol) for key, (symbol, _) in gone.items() if key not in moved]
    return sorted(found, key=lambda c: (c.symbol.path, c.symbol.start_line, c.symbol.qualname, c.change))


class _Origins:
    """What has gone, by name, kind and body."""

    def __init__(self, gone: Mapping[SymbolKey, tuple[Symbol, int]]) -> None:
        self._by: defaultdict[tuple[str, str, int], list[Symbol]] = defaultdict(list)
        for _, (symbol, body) in _in_order(gone.items()):
            self._by[symbol.name, symbol.kind, body].append(symbol)

    def take(self, symbol: Symbol, body: int) -> Symbol | None:
        """One that has the same body, each once; of the same qualified name if there is one."""
        waiting = self._by.get((symbol.name, symbol.kind, body), [])
        best = next((one for one in waiting if one.qualname == symbol.qualname), waiting[0] if waiting else None)
        if best is not None:
            waiting.remove(best)
        return best


def _of(db: Database, mine: str, other: str) -> Bodies:
    rows = db.rows(_SYMBOLS.format(mine=mine, other=other))
    pairs = ((Symbol(*row[:-1]), row[-1]) for row in rows)
    return {symbol.key: (symbol, body) for symbol, body in pairs}


def _in_order(
    items: Iterable[tuple[SymbolKey, tuple[Symbol, int]]],
) -> list[tuple[SymbolKey, tuple[Symbol, int]]]:
    return sorted(items, key=lambda item: (item[0].path, item[1][0].start_line, item[0].qualname, item[0].overload))
