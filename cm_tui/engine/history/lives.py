"""The lives of symbols, from the spans of the files that they stood in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from cm_tui.engine.code import spans
from cm_tui.engine.code.names import Name
from cm_tui.engine.history.moments import Moments
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import Life, LifeEvent, LifeSpan, Moment, Page, SymbolKey

_ROWS = """
SELECT f.path, s.qualname, s.kind, s.overload, f.from_ord, f.to_ord, coalesce(s.body, 0), s.signature, s.start_line,
       s.name
FROM {spans} f JOIN symbol s ON s.blob = f.blob
WHERE s.name IN (SELECT unnest(?::VARCHAR[])) ORDER BY f.from_ord
"""
_NOW = "(SELECT path, blob, 0 AS from_ord, NULL::INTEGER AS to_ord FROM head_file)"
_MOVES = 50
"""How many moves of one symbol are followed back."""

What = Literal["came", "changed", "signature", "left", "returned", "moved"]


class _Stretch(NamedTuple):
    """A symbol in one version of its file."""

    start: int
    end: int | None
    body: int
    signature: str
    line: int
    name: str


class _Event(NamedTuple):
    ordinal: int
    what: What
    key: SymbolKey
    stretch: _Stretch
    other: SymbolKey | None = None


class Lives:
    """Looks for lives in one store.

    Args:
        db: the store.
        moments: its line.
    """

    def __init__(self, db: Database, moments: Moments) -> None:
        self._db = db
        self._moments = moments
        self._known = spans.load(db)
        self._stretches: dict[SymbolKey, list[_Stretch]] = {}
        self._ends: defaultdict[tuple[str, int, int], list[SymbolKey]] = defaultdict(list)
        """What left, by kind, ordinal and body."""
        head = moments.head()
        self._newest = self._known.to_ord or (head.ordinal if head else 0)

    def find(self, name: str | SymbolKey, limit: int) -> Page[Life]:
        """Lives of what bears a name, those alive first, then those gone last.

        Raises:
            NotFoundError: nothing that is known ever bore it.
        """
        if isinstance(name, SymbolKey):
            sql = "SELECT DISTINCT name FROM symbol WHERE qualname = ? AND kind = ?"
            self._load([row[0] for row in self._db.rows(sql, [name.qualname, name.kind])])
            keys = [key for key in self._stretches if key == name]
        else:
            wanted = Name(name)
            self._load(wanted.ends)
            keys = [
                key
                for key in self._stretches
                if wanted.fits(key.qualname, key.kind) or wanted.fits_in(key.path, key.qualname, key.kind)
            ]
        if not keys:
            shown = name.qualname if isinstance(name, SymbolKey) else name
            raise NotFoundError(
                f"Nothing that is known was ever called {shown}.",
                hint=f"{self._moments.status().text}; `cm history backfill` reads further back.",
            )
        lives = {key: self._trace(key) for key in keys}
        if not isinstance(name, SymbolKey):
            # A life that goes on elsewhere is told once, as part of the later one.
            earlier = {event.other for events, _ in lives.values() for event in events if event.other is not None}
            lives = {key: life for key, life in lives.items() if key not in earlier or self._is_alive(key)}
        order = sorted(lives, key=lambda key: (not self._is_alive(key), -self._last(key), key.path, key.qualname))
        chosen = order[: max(0, limit)]
        moments = self._moments.many({o for key in chosen for o in _ordinals(*lives[key], self._last(key))})
        return Page(tuple(self._life(key, *lives[key], moments) for key in chosen), len(order))

    def _load(self, names: list[str]) -> None:
        rows = self._db.rows(_ROWS.format(spans="file_span" if self._known.to_ord else _NOW), [names])
        found: defaultdict[SymbolKey, list[_Stretch]] = defaultdict(list)
        for path, qualname, kind, overload, *values in rows:
            found[SymbolKey(path, qualname, kind, overload)].append(_Stretch(*values))
            if values[1] is not None:
                self._ends[kind, values[1], values[2]].append(SymbolKey(path, qualname, kind, overload))
        self._stretches = dict(found)

    def _trace(self, key: SymbolKey) -> tuple[list[_Event], list[LifeSpan]]:
        """Events and spans, oldest first; moves are followed back."""
        events, stays = self._own(key)
        for _ in range(_MOVES):
            first = events[0] if events else None
            if first is None or first.what != "came":
                break
            origin = self._origin(first)
            if origin is None:
                break
            before, earlier = self._own(origin)
            events[0] = first._replace(what="moved", other=origin)
            events = [event for event in before if event.ordinal < first.ordinal] + events
            stays = [stay for stay in earlier if stay.from_ord < first.ordinal] + stays
        return events, stays

    def _own(self, key: SymbolKey) -> tuple[list[_Event], list[LifeSpan]]:
        """What happened at one path under one name."""
        events: list[_Event] = []
        stays: list[LifeSpan] = []
        before: _Stretch | None = None
        for stretch in self._stretches[key]:
            if before is not None and before.end == stretch.start:
                stays[-1] = LifeSpan(stays[-1].from_ord, stretch.end, key.path)
                if stretch.body != before.body:
                    what: What = "signature" if stretch.signature != before.signature else "changed"
                    events.append(_Event(stretch.start, what, key, stretch))
            else:
                if before is not None and before.end is not None:
                    events.append(_Event(before.end, "left", key, before))
                if stretch.start:
                    events.append(_Event(stretch.start, "returned" if before else "came", key, stretch))
                stays.append(LifeSpan(stretch.start, stretch.end, key.path))
            before = stretch
        if before is not None and before.end is not None:
            events.append(_Event(before.end, "left", key, before))
        return events, stays

    def _origin(self, came: _Event) -> SymbolKey | None:
        """What left by the very commit that brought a symbol, with the same body."""
        found = [
            key
            for key in self._ends.get((came.key.kind, came.ordinal, came.stretch.body), ())
            if key != came.key and all(one.start != came.ordinal for one in self._stretches[key])
        ]
        return min(found, key=lambda key: (key.qualname != came.key.qualname, key.path, key.overload), default=None)

    def _is_alive(self, key: SymbolKey) -> bool:
        return self._stretches[key][-1].end is None

    def _last(self, key: SymbolKey) -> int:
        """Ordinal of the last commit at which it was there."""
        end = self._stretches[key][-1].end
        return self._newest if end is None else end - 1

    def _life(
        self, key: SymbolKey, events: Sequence[_Event], stays: Sequence[LifeSpan], moments: dict[int, Moment]
    ) -> Life:
        alive = self._is_alive(key)
        end = self._stretches[key][-1].end
        notes = [] if stays[0].from_ord else [self._beginning()]
        return Life(
            key=key,
            name=self._stretches[key][-1].name,
            alive=alive,
            spans=tuple(stays),
            events=tuple(
                LifeEvent(
                    moments[e.ordinal], e.what, e.key.path, e.key.qualname, e.stretch.line, e.stretch.signature, e.other
                )
                for e in events
            ),
            first_seen=moments.get(stays[0].from_ord),
            last_seen=moments.get(self._last(key)),
            invalid=None if end is None else moments.get(end),
            notes=tuple(notes),
        )

    def _beginning(self) -> str:
        if not self._known.to_ord:
            return "history has not been read yet"
        first = self._moments.at(self._known.from_ord)
        return f"it was there already at #{first.ordinal}, where what is known begins" if first else ""


def _ordinals(events: Iterable[_Event], stays: Iterable[LifeSpan], last: int) -> set[int]:
    ends = {o for stay in stays for o in (stay.from_ord, stay.to_ord) if o}
    return {event.ordinal for event in events} | ends | {last}
