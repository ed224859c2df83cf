"""Histories of symbols, from the spans of their files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from cm_tui.engine.code.graph.lookup import suggestion
from cm_tui.engine.code.history.commits import MainlineCommits
from cm_tui.engine.code.history.coverage_report import CoverageReport
from cm_tui.engine.code.history.symbol_versions import Gap, SymbolVersions, Version
from cm_tui.engine.code.mainline import coverage
from cm_tui.engine.platform.store.database import Database
from cm_tui.errors import NotFoundError
from cm_tui.model import CommitPoint, Page, SymbolEvent, SymbolHistory, SymbolKey, SymbolSpan

_MOST_MOVES = 50
"""How many moves of one symbol are followed back."""

What = Literal["came", "changed", "signature", "left", "returned", "moved", "unknown"]


class _Event(NamedTuple):
    ordinal: int
    what: What
    key: SymbolKey
    version: Version
    other: SymbolKey | None = None


class SymbolHistories:
    """Finds histories in one store. `report`: on the known part of the mainline."""

    def __init__(self, db: Database, commits: MainlineCommits, report: CoverageReport) -> None:
        self._commits = commits
        self._report = report
        self._known = coverage.load(db)
        self._versions = SymbolVersions(db, with_spans=bool(self._known.to_ord))
        head = commits.head()
        self._newest = self._known.to_ord or (head.ordinal if head else 0)

    def find(self, name: str | SymbolKey, limit: int) -> Page[SymbolHistory]:
        """Return the histories of symbols with a name: current ones, then the last removed first.

        Raises NotFoundError if no known symbol ever had it; UsageError if the name is empty.
        """
        keys = self._versions.find(name)
        if not keys:
            shown = name.qualname if isinstance(name, SymbolKey) else name
            near = suggestion(shown.rpartition(".")[2], self._versions.names())
            hint = f"{self._report.hint()} {near}".rstrip()
            raise NotFoundError(f"No known commit defines {shown}.", hint=hint)
        self._versions.load_same_bodies(keys)
        traced = {key: self._trace(key) for key in keys}
        if not isinstance(name, SymbolKey):
            # A history that continues elsewhere is listed once, as part of the later one.
            earlier = {key for key in keys if self._versions.last_destination(key) in traced}
            traced = {key: history for key, history in traced.items() if key not in earlier}
        order = sorted(traced, key=lambda key: (not self._is_there(key), -self._last(key), key.path, key.qualname))
        chosen = order[: max(0, limit)]
        commits = self._commits.many({o for key in chosen for o in _ordinals(*traced[key], self._last(key))})
        rows = tuple(self._record(key, *traced[key], commits) for key in chosen)
        return Page(rows, len(order), self._report.pruned(self._known))

    # --- what happened ---

    def _trace(self, key: SymbolKey) -> tuple[list[_Event], list[SymbolSpan]]:
        """Return events and spans, oldest first; moves are followed back."""
        events, spans = self._under_one_name(key)
        parts = [(events, spans)]
        for _ in range(_MOST_MOVES):
            at = next((n for n in range(len(events) - 1, -1, -1) if events[n].what == "moved"), None)
            if at is None:
                break
            since, other = events[at].ordinal, events[at].other
            assert other is not None
            parts[-1] = (events[at:], [span for span in spans if span.from_ord >= since])
            self._versions.load_same_bodies([other])
            events, spans = self._under_one_name(other)
            events = [event for event in events if event.ordinal < since]
            spans = [span for span in spans if span.from_ord < since]
            parts.append((events, spans))
        parts.reverse()
        return [event for events, _ in parts for event in events], [span for _, spans in parts for span in spans]

    def _under_one_name(self, key: SymbolKey) -> tuple[list[_Event], list[SymbolSpan]]:
        """Return what happened at one path under one name."""
        events: list[_Event] = []
        spans: list[SymbolSpan] = []
        before: Version | None = None
        for version in self._versions[key]:
            if before is not None and before.end == version.start:
                spans[-1] = SymbolSpan(spans[-1].from_ord, version.end, key.path)
                if version.body != before.body:
                    what: What = "signature" if version.signature != before.signature else "changed"
                    events.append(_Event(version.start, what, key, version))
            else:
                if before is not None:
                    events.append(self._leaving(key, before))
                if version.start:
                    events.append(self._coming(key, version, "returned" if before else "came"))
                spans.append(SymbolSpan(version.start, version.end, key.path))
            before = version
        if before is not None and before.end is not None:
            events.append(self._leaving(key, before))
        return events, spans

    def _coming(self, key: SymbolKey, version: Version, what: What) -> _Event:
        if self._versions.gap_ends(key, version.start):
            return _Event(version.start, "unknown", key, version)
        origin = self._versions.origin(key, version)
        return _Event(version.start, "moved" if origin else what, key, version, origin)

    def _leaving(self, key: SymbolKey, version: Version) -> _Event:
        assert version.end is not None
        if self._versions.gap_begins(key, version.end):
            return _Event(version.end, "unknown", key, version)
        return _Event(version.end, "left", key, version, self._versions.destination(key, version))

    def _is_there(self, key: SymbolKey) -> bool:
        return self._versions[key][-1].end is None

    def _last(self, key: SymbolKey) -> int:
        """Return the ordinal of the last commit with it."""
        end = self._versions[key][-1].end
        return self._newest if end is None else end - 1

    # --- as records ---

    def _record(
        self, key: SymbolKey, events: Sequence[_Event], spans: Sequence[SymbolSpan], commits: dict[int, CommitPoint]
    ) -> SymbolHistory:
        last = self._versions[key][-1]
        is_lost = last.end is not None and self._versions.gap_begins(key, last.end)
        notes = [] if spans[0].from_ord else [self._beginning()]
        notes += self._gap_notes(dict.fromkeys([*(span.path for span in spans), key.path]))
        return SymbolHistory(
            key=key,
            name=last.name,
            alive=self._is_there(key),
            spans=tuple(spans),
            events=tuple(_event(event, commits) for event in events),
            first_seen=commits.get(spans[0].from_ord),
            last_seen=commits.get(self._last(key)),
            invalid=None if last.end is None or is_lost else commits.get(last.end),
            notes=tuple(notes),
        )

    def _beginning(self) -> str:
        """Return why a symbol's origin is unknown."""
        removed = self._report.pruned(self._known)
        if not self._known.to_ord:
            return removed or "history has not been read yet"
        first = self._commits.at(self._known.from_ord)
        known = f"it already existed at #{first.ordinal}, where the known history begins" if first else ""
        return "; ".join(filter(None, (removed, known)))

    def _gap_notes(self, paths: Iterable[str]) -> list[str]:
        """Return notes on gaps where the content of a file is missing."""
        return [
            f"the version of {path} {_between(gap, self._newest)} is not in this clone, so its content is unknown"
            for path in paths
            for gap in self._versions.gaps(path)
        ]


def _event(event: _Event, commits: dict[int, CommitPoint]) -> SymbolEvent:
    key, version = event.key, event.version
    return SymbolEvent(
        commits[event.ordinal], event.what, key.path, key.qualname, version.line, version.signature, event.other
    )


def _between(gap: Gap, newest: int) -> str:
    start, end = max(1, gap.start), newest if gap.end is None else gap.end - 1
    return f"from #{start} to #{end}" if end > start else f"at #{start}"


def _ordinals(events: Iterable[_Event], spans: Iterable[SymbolSpan], last: int) -> set[int]:
    ends = {ordinal for span in spans for ordinal in (span.from_ord, span.to_ord) if ordinal}
    return {event.ordinal for event in events} | ends | {last}
