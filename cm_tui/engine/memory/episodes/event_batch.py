"""Edits of episodes in a batch of events, gathered before they are written into the tables."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.episode_rows import storable
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.episode_record import origin_of, read_episode
from cm_tui.engine.memory.projection.narrated import FAMILY
from cm_tui.engine.memory.projection.visibility import PURGED, UNDONE, change_of, ids_of
from cm_tui.engine.platform.journal.archive import ARCHIVED
from cm_tui.engine.platform.journal.event import ERASURE, Event, Position
from cm_tui.model import Episode

_EVENTS, _EPISODES = 20_000, 2_048
"""Most events, and most episodes, that are written at once."""


class NewEpisode(NamedTuple):
    """A new episode, without its patch and steps, which are not kept in memory."""

    episode: Episode
    origin: str
    at: Position
    """End of its event in the journal."""
    size: int

    @classmethod
    def of(cls, event: Event, at: Position, size: int) -> Self:
        """Return the recorded episode of an event."""
        return cls(read_episode(event, patch=False), origin_of(event), at, size)


@dataclass
class EventBatch:
    """The edits in some events, before they are written."""

    episodes: dict[str, NewEpisode] = field(default_factory=dict)
    edits: list[tuple[Any, ...]] = field(default_factory=list)
    changes: list[tuple[Any, ...]] = field(default_factory=list)
    undone: list[tuple[str, int]] = field(default_factory=list)
    narrated: list[tuple[Any, ...]] = field(default_factory=list)
    """Events about proposals of the narrator."""
    erased: set[str] = field(default_factory=set)
    moved: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    """Files of the archive, and ids of what moved there."""
    touched: set[str] = field(default_factory=set)
    """Ids of edited episodes."""
    events: int = 0

    @property
    def is_full(self) -> bool:
        """Whether it should be written before reading on."""
        return self.events >= _EVENTS or len(self.episodes) >= _EPISODES

    def take_in(self, event: Event, at: Position, events: int) -> int:
        """Add an event; return how many numbers it takes: only relevant events are numbered.

        `event`: the next one of the journal; `events`: the number of the last counted event.
        """
        self.events += 1
        number = events + 1
        name = storable(change_of(event))
        if event.kind == episode_record.KIND:
            begin = at.offset if at.segment == event.position.segment else 0
            self.episodes.setdefault(storable(event.id), NewEpisode.of(event, at, event.position.offset - begin))
        elif event.kind in (ERASURE, PURGED):
            self.erased |= {storable(one) for one in ids_of(event)}
        elif event.kind == ARCHIVED and isinstance(event.data.get("file"), int):
            self.moved.append((event.data["file"], frozenset(map(storable, ids_of(event)))))
        said = changes.said_by(event)
        if said is not None:
            ids = {storable(one) for one in changes.named_by(event)}
            self.touched |= ids
            text = json.dumps(said.edit)
            own = storable(event.id) if event.kind == UNDONE else name
            self.edits += [(number, own, one, text, said.actor, False) for one in sorted(ids)]
        if event.kind == UNDONE:
            self.undone.append((name, number))
        if changes.is_undoable(event):
            place = (event.position.segment, at.offset if at.segment == event.position.segment else 0)
            self.changes.append((number, name, event.kind, changes.actor_of(event), *place, False))
        is_narrated = event.kind.startswith(FAMILY)
        if is_narrated:
            data = json.dumps(event.data)
            self.narrated.append((number, storable(event.id), name, storable(event.kind), event.time, data, False))
        return int(said is not None or changes.is_undoable(event) or is_narrated)
