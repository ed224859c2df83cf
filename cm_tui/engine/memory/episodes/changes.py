"""Events that edit episodes, and their net result without undone ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from cm_tui.engine.memory.entries.entry_writing import APPROVED, CHANGED
from cm_tui.engine.memory.notes.note_file import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.topic_files import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.narrated import DECIDED
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED, UNDONE, change_of, ids_of
from cm_tui.engine.platform.journal.event import RESTORED as OF_BACKUP
from cm_tui.engine.platform.journal.event import Event, texts_in
from cm_tui.model import EpisodeEdit, EpisodeState

EDITED = "episode.edited"
"""Kind of the event that tags, rates or pins episodes."""
CONSOLIDATED = "episode.consolidated"
"""Kind of the event that an episode was promoted to an entry."""
EVIDENCE = "episode.evidence"
"""Kind of the event that something approved is based on episodes."""
CONFIRMED = "mention.confirmed"
"""Kind of the event that confirms a stale item as true."""
UNDOABLE = frozenset({EDITED, FORGOTTEN, RESTORED, CHANGED, APPROVED, NOTE_CHANGED, TOPIC_CHANGED, CONFIRMED, DECIDED})
"""Kinds of events that `undo` undoes; the user's recording of an episode is another."""
_TAG_CHARACTERS = 80
_TAGS = 200


class EventEdit(NamedTuple):
    """One event's word on episodes."""

    edit: Mapping[str, Any]
    """Fields of `EpisodeEdit`, and `settled` and `evidence`; missing ones are unchanged."""
    actor: str


@dataclass(frozen=True, slots=True)
class EditedState:
    """Net result of an episode's events."""

    tags: tuple[str, ...]
    written_by_person: bool
    pinned: bool = False
    rating: int = 0
    forgotten: bool = False
    settled: bool = False
    evidence: bool = False
    persons: frozenset[str] = frozenset()
    """Whether the user pinned, rated, tagged, or restored it."""

    def after(self, said: EventEdit) -> Self:
        """Return it after one more event."""
        edit, changes = said.edit, dict[str, Any]()
        gone = set(texts_in(edit, "remove_tags"))
        tags = dict.fromkeys(tag for tag in (*self.tags, *texts_in(edit, "add_tags")) if tag not in gone)
        changes["tags"] = tuple(tags)[:_TAGS]
        for name in ("pinned", "forgotten", "settled", "evidence"):
            if isinstance(edit.get(name), bool):
                changes[name] = edit[name]
        if edit.get("rating") in (-1, 0, 1) and not isinstance(edit["rating"], bool):
            changes["rating"] = edit["rating"]
        touched = {name for name in ("pinned", "rating") if name in changes}
        kept = {name for name in ("add_tags", "remove_tags") if edit.get(name)}
        if edit.get("forgotten") is False:
            kept.add("forgotten")
        persons = self.persons | touched | kept if said.actor == "person" else self.persons - touched
        return replace(self, **changes, persons=persons)

    @property
    def guarded(self) -> bool:
        """Return whether only the user may change it: written, pinned, rated, tagged or restored by the user, or approved evidence."""
        if self.written_by_person or self.evidence or self.persons & {"add_tags", "remove_tags", "forgotten"}:
            return True
        pinned = self.pinned and "pinned" in self.persons
        return pinned or (self.rating != 0 and "rating" in self.persons)

    def state(self, *, in_archive: bool) -> EpisodeState:
        """Return whether it is shown."""
        return "forgotten" if self.forgotten else "archived" if in_archive else "shown"


def edit_of(event: Event) -> EventEdit | None:
    """Return an event's edit of the episodes that it names; None: no edit."""
    actor = actor_of(event)
    if event.kind == EDITED:
        return EventEdit({name: event.data[name] for name in _FIELDS if name in event.data}, actor)
    if event.kind in (FORGOTTEN, RESTORED):
        return EventEdit({"forgotten": event.kind == FORGOTTEN}, actor)
    if event.kind == UNDONE:
        # Only an episode recorded by hand has the id of its event.
        return EventEdit({"forgotten": True}, actor)
    if event.kind in (CONSOLIDATED, EVIDENCE):
        return EventEdit({"settled" if event.kind == CONSOLIDATED else "evidence": True}, actor)
    if event.kind == DECIDED and event.data.get("verdict") == "approve":
        return EventEdit({"settled": True, "evidence": True}, actor)
    return None


def named_by(event: Event) -> frozenset[str]:
    """Return the ids of the episodes that such an event is about."""
    return frozenset({change_of(event)}) if event.kind == UNDONE else ids_of(event)


def is_undoable(event: Event) -> bool:
    """Return whether `undo` may undo an event: not one from a backup, which is from elsewhere or long past."""
    if event.data.get(OF_BACKUP) is True:
        return False
    return event.kind in UNDOABLE or (event.kind == episode_record.KIND and event.data.get("actor") == "person")


def actor_of(event: Event) -> str:
    """Return who made a change; before the field existed, only the user could."""
    actor = event.data.get("actor", "person")
    return actor if isinstance(actor, str) else "agent"


def data_of(edit: EpisodeEdit) -> dict[str, Any]:
    """Return the event data of an edit, without ids and unchanged fields."""
    fields = {"rating": edit.rating, "pinned": edit.pinned}
    tags = {"add_tags": clean(edit.add_tags), "remove_tags": clean(edit.remove_tags)}
    return {name: value for name, value in {**fields, **tags}.items() if value not in (None, [])}


def edited_state(tags: Iterable[str], *, by_person: bool, said: Sequence[tuple[str, str]]) -> EditedState:
    """Return the net result of an episode's edits.

    `tags`: those of the recording; `by_person`: the user wrote it; `said`: JSON of each edit with its actor, in order.
    """
    found = EditedState(tuple(dict.fromkeys(tags)), by_person)
    for edit, actor in said:
        found = found.after(EventEdit(json.loads(edit), actor))
    return found


_FIELDS = ("rating", "pinned", "add_tags", "remove_tags")


def clean(tags: Iterable[str]) -> list[str]:
    """Return unique tags without needless blanks."""
    return list(dict.fromkeys(" ".join(tag.split())[:_TAG_CHARACTERS] for tag in tags if tag.strip()))
