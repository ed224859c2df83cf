"""Making a change again that was undone, from its events in the journal: every id stays what it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_events import CHANGED, states_of
from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.edits import append_of_many, new_change
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.episodes.undo import UNDONE_PREFIX, events_of, undo
from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.note_saves import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.note_undo import make_again
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED
from cm_tui.engine.platform.journal.event import Event
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Edited
from cm_tui.model.author import Author


class _Undone(NamedTuple):
    """A change that was undone.

    Attributes:
        root: of the checkout.
        episodes: of the project.
        events: the change, as the journal has it, in order.
    """

    root: Path
    episodes: Episodes
    events: list[Event]


def _entries(undone: _Undone) -> str:
    return Entries(undone.root).put(states_of(undone.events[0].data), Author()).event


def _note(undone: _Undone) -> str:
    event, notes = undone.events[0], Notes(undone.root)
    id_, target = event.data.get("note"), event.data.get("target")
    if isinstance(id_, str) and isinstance(target, str):
        return NoteChanges(notes).move(id_, target).change
    if isinstance(id_, str) and event.data.get("deleted") is True:
        return NoteChanges(notes).delete(id_).change
    return make_again(notes, event)


def _of_episodes(undone: _Undone) -> str:
    """What an event states of episodes counts again once a later event of the journal states it."""
    change, journal = new_change(), undone.episodes.journal
    with journal.held():
        for event in undone.events:
            journal.append_held(event.kind, {**event.data, "change": change})
    return change


def _recording(undone: _Undone) -> str:
    change, journal = new_change(), undone.episodes.journal
    with journal.held():
        data = {"change": change, "actor": "person"}
        append_of_many(journal, RESTORED, data, [event.id for event in undone.events])
    return change


REDOERS: Mapping[str, Callable[[_Undone], str]] = {
    CHANGED: _entries,
    NOTE_CHANGED: _note,
    changes.EDITED: _of_episodes,
    changes.CONFIRMED: _of_episodes,
    FORGOTTEN: _of_episodes,
    RESTORED: _of_episodes,
    episode_record.KIND: _recording,
}
"""How each kind of change is made again; returns the id of the new change. Topics, approvals and decisions on proposals
are made again where they were made."""


def redo(episodes: Episodes, root: Path, change: str) -> Edited:
    """Make a change of a person again that was undone: that is a change of its own, which `undo` undoes.

    Raises NotFoundError if it was not undone, or an entry is not as it was before it; UsageError if it is of a kind
    that is made again elsewhere, or a note has changed in the same lines; StoreError if the journal cannot be read or
    written.
    """
    episodes.index.follow()
    sql = "SELECT kind FROM change WHERE undone AND actor = 'person' AND change = ? ORDER BY event DESC LIMIT 1"
    kinds = episodes.tables.rows(sql, [change])
    if not kinds:
        raise NotFoundError(f"The change {change[:40]} was not undone, or is not of this project.")
    redoer = REDOERS.get(kinds[0][0])
    events = events_of(episodes, change, undone=True) if redoer is not None else []
    if redoer is None or not events:
        raise UsageError("This change cannot be redone.", hint="Make it again where it was made.")
    made = redoer(_Undone(root, episodes, events))
    again = undo(episodes, root, made, dry_run=True, theirs_too=False)
    return Edited(made, again.ids, again.words.removeprefix(UNDONE_PREFIX))
