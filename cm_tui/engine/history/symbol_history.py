"""The lives of symbols, from the spans of the files that they stood in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple

from cm_tui.engine.history import missing_blobs
from cm_tui.engine.history.commits import MainlineCommits
from cm_tui.engine.history.symbol_diff import Trace, moves
from cm_tui.engine.mainline import coverage
from cm_tui.engine.parse.qualified_name import QualifiedName
from cm_tui.engine.store.database import Database
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import CommitPoint, Page, SymbolEvent, SymbolHistory, SymbolKey, SymbolSpan

_ROWS = """
SELECT f.path, s.qualname, s.kind, s.overload, f.from_ord, f.to_ord, coalesce(s.body, 0), s.signature, s.start_line,
       s.name
FROM {spans} f JOIN symbol s ON s.blob = f.blob
WHERE s.name IN (SELECT unnest(?::VARCHAR[])) ORDER BY f.from_ord
"""
_NOW = "(SELECT path, blob, 0 AS from_ord, NULL::INTEGER AS to_ord FROM head_file)"
_MOVES = 50
"""How many moves of one symbol are followed back."""

_KIN = """
SELECT DISTINCT s.name FROM file_span f JOIN symbol s ON s.blob = f.blob
WHERE s.body IN (SELECT unnest(?::BIGINT[]))
  AND (f.from_ord IN (SELECT unnest(?::INTEGER[])) OR f.to_ord IN (SELECT unnest(?::INTEGER[])))
"""

What = Literal["came", "changed", "signature", "left", "returned", "moved", "unknown"]


class _Stretch(NamedTuple):
    """A symbol in one version of its file."""

    start: int
    end: int | None
    body: int
    signature: str
    line: int
    name: str


class _Gap(NamedTuple):
    """Where the content of a symbol's file is not in this clone."""

    start: int
    end: int | None


class _Event(NamedTuple):
    ordinal: int
    what: What
    key: SymbolKey
    stretch: _Stretch
    other: SymbolKey | None = None


_Turn = tuple[str, int, int]
"""Kind, ordinal and body of what came or went."""


class SymbolHistories:
    """Looks for lives in one store.

    Args:
        db: the store.
        moments: its line.
    """

    def __init__(self, db: Database, moments: MainlineCommits) -> None:
        self._db = db
        self._moments = moments
        self._known = coverage.load(db)
        self._stretches: dict[SymbolKey, list[_Stretch]] = {}
        self._gaps: defaultdict[str, list[_Gap]] = defaultdict(list)
        self._loaded: set[str] = set()
        """Names whose symbols are in `_stretches`."""
        self._went: defaultdict[_Turn, list[Trace]] = defaultdict(list)
        self._came: defaultdict[_Turn, list[Trace]] = defaultdict(list)
        self._moved: dict[_Turn, dict[SymbolKey, SymbolKey]] = {}
        head = moments.head()
        self._newest = self._known.to_ord or (head.ordinal if head else 0)

    def find(self, name: str | SymbolKey, limit: int) -> Page[SymbolHistory]:
        """Lives of what bears a name, those alive first, then those gone last.

        Raises:
            NotFoundError: nothing that is known ever bore it.
            UsageError: the name is empty.
        """
        keys = self._keys(name)
        if not keys:
            shown = name.qualname if isinstance(name, SymbolKey) else name
            raise NotFoundError(f"Nothing that is known was ever called {shown}.", hint=self._moments.more())
        self._load_kin(keys)
        lives = {key: self._trace(key) for key in keys}
        if not isinstance(name, SymbolKey):
            # A life that goes on elsewhere is told once, as part of the later one.
            on = {key for key in keys if self._destination(key) in lives}
            lives = {key: life for key, life in lives.items() if key not in on}
        order = sorted(lives, key=lambda key: (not self._is_alive(key), -self._last(key), key.path, key.qualname))
        chosen = order[: max(0, limit)]
        moments = self._moments.many({o for key in chosen for o in _ordinals(*lives[key], self._last(key))})
        rows = tuple(self._life(key, *lives[key], moments) for key in chosen)
        return Page(rows, len(order), self._moments.vacuumed(self._known))

    # --- what is loaded ---

    def _keys(self, name: str | SymbolKey) -> list[SymbolKey]:
        """Symbols that bear a name, their stretches loaded."""
        if isinstance(name, SymbolKey):
            sql = "SELECT DISTINCT name FROM symbol WHERE qualname = ? AND kind = ?"
            self._load([row[0] for row in self._db.rows(sql, [name.qualname, name.kind])])
            return [key for key in self._stretches if key == name]
        wanted = QualifiedName(name)
        if not wanted.ends:
            raise UsageError("No symbol is named.", hint="Give a name, or any tail of a qualified one.")
        self._load(wanted.ends)
        return [
            key
            for key in self._stretches
            if wanted.fits(key.qualname, key.kind) or wanted.fits_in(key.path, key.qualname, key.kind)
        ]

    def _load(self, names: Collection[str]) -> None:
        """Read the stretches of all symbols of these names, and which of them came and went when."""
        new = sorted(set(names) - self._loaded)
        if not new:
            return
        self._loaded.update(new)
        rows = self._db.rows(_ROWS.format(spans="file_span" if self._known.to_ord else _NOW), [new])
        found: defaultdict[SymbolKey, list[_Stretch]] = defaultdict(list)
        for path, qualname, kind, overload, *values in rows:
            found[SymbolKey(path, qualname, kind, overload)].append(_Stretch(*values))
        self._stretches.update(found)
        paths = {key.path for key in found} - self._gaps.keys()
        for path, start, end in missing_blobs.spans_of(self._db, sorted(paths)):
            gaps = self._gaps[path]
            since = gaps.pop().start if gaps and gaps[-1].end == start else start
            gaps.append(_Gap(since, end))
        for key, stretches in found.items():
            for one, after in zip(stretches, [*stretches[1:], None], strict=True):
                if one.end is not None and (after is None or after.start != one.end) and not self._begins(key, one.end):
                    self._went[key.kind, one.end, one.body].append(Trace(key, one.name, one.body, one.line))
            for one, before in zip(stretches, [None, *stretches[:-1]], strict=True):
                if one.start and (before is None or before.end != one.start) and not self._ends(key, one.start):
                    self._came[key.kind, one.start, one.body].append(Trace(key, one.name, one.body, one.line))

    def _load_kin(self, keys: Collection[SymbolKey]) -> None:
        """Load also what bears other names and came or went with the same bodies at the same commits."""
        wanted = set(keys)
        turns = {
            turn
            for side in (self._went, self._came)
            for turn, traces in side.items()
            if any(trace.key in wanted for trace in traces)
        }
        if turns:
            ordinals = sorted({ordinal for _, ordinal, _ in turns})
            bodies = sorted({body for _, _, body in turns})
            self._load([row[0] for row in self._db.rows(_KIN, [bodies, ordinals, ordinals])])

    def _begins(self, key: SymbolKey, ordinal: int) -> bool:
        """True when from a commit on the symbol's file has no content here."""
        return any(gap.start == ordinal for gap in self._gaps.get(key.path, ()))

    def _ends(self, key: SymbolKey, ordinal: int) -> bool:
        """True when up to a commit the symbol's file had no content here."""
        return any(gap.end == ordinal for gap in self._gaps.get(key.path, ()))

    # --- moves ---

    def _moves(self, key: SymbolKey, ordinal: int, body: int) -> dict[SymbolKey, SymbolKey]:
        """Where each came from that came by a commit with a body."""
        turn = key.kind, ordinal, body
        if turn not in self._moved:
            self._moved[turn] = moves(self._went.get(turn, ()), self._came.get(turn, ()))
        return self._moved[turn]

    def _origin(self, key: SymbolKey, came: _Stretch) -> SymbolKey | None:
        """What left by the very commit that brought a symbol, with the same body."""
        return self._moves(key, came.start, came.body).get(key)

    def _onward(self, key: SymbolKey, left: _Stretch) -> SymbolKey | None:
        """Where a symbol went by the commit that took it away."""
        assert left.end is not None
        moved = self._moves(key, left.end, left.body)
        return next((there for there, here in moved.items() if here == key), None)

    def _destination(self, key: SymbolKey) -> SymbolKey | None:
        """Where a symbol went at last."""
        last = self._stretches[key][-1]
        return None if last.end is None else self._onward(key, last)

    # --- lives ---

    def _trace(self, key: SymbolKey) -> tuple[list[_Event], list[SymbolSpan]]:
        """Events and spans, oldest first; moves are followed back."""
        events, stays = self._own(key)
        parts = [(events, stays)]
        for _ in range(_MOVES):
            at = next((n for n in range(len(events) - 1, -1, -1) if events[n].what == "moved"), None)
            if at is None:
                break
            since, other = events[at].ordinal, events[at].other
            assert other is not None
            parts[-1] = (events[at:], [stay for stay in stays if stay.from_ord >= since])
            self._load_kin([other])
            events, stays = self._own(other)
            events = [event for event in events if event.ordinal < since]
            stays = [stay for stay in stays if stay.from_ord < since]
            parts.append((events, stays))
        return [e for events, _ in reversed(parts) for e in events], [s for _, stays in reversed(parts) for s in stays]

    def _own(self, key: SymbolKey) -> tuple[list[_Event], list[SymbolSpan]]:
        """What happened at one path under one name."""
        events: list[_Event] = []
        stays: list[SymbolSpan] = []
        before: _Stretch | None = None
        for stretch in self._stretches[key]:
            if before is not None and before.end == stretch.start:
                stays[-1] = SymbolSpan(stays[-1].from_ord, stretch.end, key.path)
                if stretch.body != before.body:
                    what: What = "signature" if stretch.signature != before.signature else "changed"
                    events.append(_Event(stretch.start, what, key, stretch))
            else:
                if before is not None:
                    events.append(self._leaving(key, before))
                if stretch.start:
                    events.append(self._coming(key, stretch, "returned" if before else "came"))
                stays.append(SymbolSpan(stretch.start, stretch.end, key.path))
            before = stretch
        if before is not None and before.end is not None:
            events.append(self._leaving(key, before))
        return events, stays

    def _coming(self, key: SymbolKey, stretch: _Stretch, what: What) -> _Event:
        if self._ends(key, stretch.start):
            return _Event(stretch.start, "unknown", key, stretch)
        origin = self._origin(key, stretch)
        return _Event(stretch.start, "moved" if origin else what, key, stretch, origin)

    def _leaving(self, key: SymbolKey, stretch: _Stretch) -> _Event:
        assert stretch.end is not None
        if self._begins(key, stretch.end):
            return _Event(stretch.end, "unknown", key, stretch)
        return _Event(stretch.end, "left", key, stretch, self._onward(key, stretch))

    def _is_alive(self, key: SymbolKey) -> bool:
        return self._stretches[key][-1].end is None

    def _last(self, key: SymbolKey) -> int:
        """Ordinal of the last commit at which it was there."""
        end = self._stretches[key][-1].end
        return self._newest if end is None else end - 1

    def _life(
        self, key: SymbolKey, events: Sequence[_Event], stays: Sequence[SymbolSpan], moments: dict[int, CommitPoint]
    ) -> SymbolHistory:
        alive = self._is_alive(key)
        end = self._stretches[key][-1].end
        lost = end is not None and self._begins(key, end)
        notes = [] if stays[0].from_ord else [self._beginning()]
        notes += self._lost(dict.fromkeys([*(stay.path for stay in stays), key.path]))
        return SymbolHistory(
            key=key,
            name=self._stretches[key][-1].name,
            alive=alive,
            spans=tuple(stays),
            events=tuple(
                SymbolEvent(
                    moments[e.ordinal], e.what, e.key.path, e.key.qualname, e.stretch.line, e.stretch.signature, e.other
                )
                for e in events
            ),
            first_seen=moments.get(stays[0].from_ord),
            last_seen=moments.get(self._last(key)),
            invalid=None if end is None or lost else moments.get(end),
            notes=tuple(notes),
        )

    def _beginning(self) -> str:
        removed = self._moments.vacuumed(self._known)
        if not self._known.to_ord:
            return removed or "history has not been read yet"
        first = self._moments.at(self._known.from_ord)
        known = f"it was there already at #{first.ordinal}, where what is known begins" if first else ""
        return "; ".join(filter(None, (removed, known)))

    def _lost(self, paths: Iterable[str]) -> list[str]:
        """Where nothing can be told of it, as the content of its file is not here."""
        return [
            f"the version of {path} {_between(gap, self._newest)} is not in this clone: what it held is not known"
            for path in paths
            for gap in self._gaps.get(path, ())
        ]


def _between(gap: _Gap, newest: int) -> str:
    start, end = max(1, gap.start), newest if gap.end is None else gap.end - 1
    return f"from #{start} to #{end}" if end > start else f"at #{start}"


def _ordinals(events: Iterable[_Event], stays: Iterable[SymbolSpan], last: int) -> set[int]:
    ends = {o for stay in stays for o in (stay.from_ord, stay.to_ord) if o}
    return {event.ordinal for event in events} | ends | {last}
