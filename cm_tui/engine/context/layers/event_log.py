"""The event log: the newest events of the journal, updated as it grows, without erased or forgotten ones.

Reading begins with the last file of the journal, 16 MB at most; a note reports older events that were not read.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any

from cm_tui.engine.context.definitions.template import MISSING, lookup
from cm_tui.engine.context.layers.ports import Item
from cm_tui.engine.memory.projection.ingested import LOG
from cm_tui.engine.platform.journal.event import ERASURE, MOVED, TRACES, Event, Position
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import UsageError
from cm_tui.lru import LRU
from cm_tui.model.dates import length

MOST = 20_000
"""Events that are looked at."""
_TOLD = ("prompt", "answer", "text", "hook", "paths", "source", "type", "title")
_LONGEST = 400
_BOUNDARIES = frozenset({"hook.prompt", "hook.stop"})
_SESSIONS = 1_000


def age_seconds(since: str) -> float:
    """Return the seconds of a duration such as `-7d`, `-3h` or `-30m`.

    Raises:
        UsageError: it is invalid.
    """
    seconds = length(since, m="min")
    if seconds is None:
        raise UsageError(f"Not a time span: {since[:20]!r}.", hint="Examples: -7d, -3h, -30m.")
    return seconds


class EventLog:
    """The newest events of one project; thread-safe.

    Args:
        journal: its journal.
        forgotten: returns sessions with forgotten episodes, and the ids of those.
    """

    def __init__(self, journal: Journal, forgotten: Callable[[], Collection[str]] = tuple) -> None:
        self._journal = journal
        self._forgotten = forgotten
        self._lock = threading.Lock()
        self._events: deque[Event] = deque(maxlen=MOST)
        self._at: Position | None = None
        self._last = ""
        self._turns: LRU[str, float] = LRU(_SESSIONS)

    def turn_began(self, session: str) -> float:
        """Return when the current turn of a session began: its last prompt or stop; 0: unknown.

        Raises:
            StoreError: the journal cannot be read.
        """
        with self._lock:
            self._follow()
            return self._turns.get(session) or 0.0

    def search(
        self, event_type: str = "", *, since: str = "-7d", fields: Sequence[str] = (), limit: int = 20
    ) -> tuple[list[Item], str]:
        """Return events, the newest first, and messages for the user.

        Args:
            event_type: an exact kind, a prefix with `*` at its end, or a type that a pipeline writes; empty: all.
            since: how far back.
            fields: fields of each event to return; empty: the informative ones.
            limit: how many at most.

        Raises:
            UsageError: the time is invalid.
            StoreError: the journal cannot be read.
        """
        oldest = time.time() - age_seconds(since)
        with self._lock:
            is_cut = self._follow()
            events = list(self._events)
        hidden = frozenset(self._forgotten())
        found: list[Item] = []
        for event in reversed(events):
            if event.time < oldest or len(found) >= limit:
                break
            if _fits(event, event_type) and not _is_hidden(event, hidden):
                found.append(_item(event, fields))
        reaches_back = bool(events) and events[0].time <= oldest
        said = "" if reaches_back or not is_cut or len(found) >= limit else "Older events were not read."
        return found, said

    def _follow(self) -> bool:
        """Read new events; return whether the journal has older ones that were not read."""
        if self._at is None or not self._journal.holds(self._at, self._last):
            self._begin()
        for event in self._journal.read(self._at):
            self._at, self._last = event.position, event.id
            if event.kind == ERASURE:
                gone = frozenset(map(str, event.data.get("ids", ())))
                self._events = deque((one for one in self._events if one.id not in gone), maxlen=MOST)
            elif event.kind not in TRACES and event.kind != MOVED:
                self._events.append(event)
                if event.kind in _BOUNDARIES:
                    self._turns.put(str(event.data.get("session", "")), event.time)
        return len(self._events) == MOST or len(self._journal.segments()) > 1

    def _begin(self) -> None:
        segments = self._journal.segments()
        self._events.clear()
        self._at, self._last = (Position(segments[-1], 0) if segments else START), ""


def _kind(event: Event) -> str:
    return str(event.data.get("type", "")) if event.kind == LOG else event.kind


def _fits(event: Event, wanted: str) -> bool:
    kind = _kind(event)
    if wanted.endswith("*"):
        return kind.startswith(wanted[:-1])
    return not wanted or kind == wanted


def _is_hidden(event: Event, hidden: Collection[str]) -> bool:
    return bool(hidden) and (event.id in hidden or str(event.data.get("session", "")) in hidden)


def _item(event: Event, fields: Sequence[str]) -> Item:
    data: dict[str, Any] = dict(event.data.get("fields", {})) if event.kind == LOG else dict(event.data)
    kind = _kind(event)
    if fields:
        kept = {name: value for name in fields if (value := lookup(data, name)) is not MISSING}
        told = ", ".join(f"{name}: {_short(value)}" for name, value in kept.items())
    else:
        kept = {name: value for name, value in data.items() if name != "root"}
        told = "; ".join(_event_lines(kept))
    day = time.strftime("%Y-%m-%d %H:%M", time.localtime(event.time))
    return {
        **kept,
        "id": event.id,
        "type": kind,
        "time": event.time,
        "path": f"event/{event.id}",
        "text": f"{day} {kind} {told}".rstrip(),
    }


def _event_lines(data: dict[str, Any]) -> list[str]:
    told = [_short(data[name]) for name in _TOLD if data.get(name)]
    return told or [f"{name}: {_short(value)}" for name, value in list(data.items())[:8]]


def _short(value: Any) -> str:
    text = " ".join(str(value if not isinstance(value, list | tuple) else ", ".join(map(str, value))).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
