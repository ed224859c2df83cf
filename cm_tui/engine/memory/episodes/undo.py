"""Undoing the user's last change in a project, of any kind, and making it again from its events: every id stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.entries import curation
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_undo import undo_entry_change
from cm_tui.engine.memory.entries.entry_writing import APPROVED, CHANGED, states_of
from cm_tui.engine.memory.episodes import changes, narrated_undo
from cm_tui.engine.memory.episodes.edits import append_of_many, new_change, words_of
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.episodes.narrated_undo import UndoRequest
from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.note_undo import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.note_undo import redo_note_change
from cm_tui.engine.memory.notes.note_undo import undo_note_change as take_note_back
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_files import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.notes.topic_undo import undo_topic_change as take_topics_back
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.narrated import DECIDED
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED, UNDONE, ids_of
from cm_tui.engine.platform.journal.event import Event, Position, texts_in
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Edited, EpisodeEdit, Undone
from cm_tui.model.author import Author

UNDONE_PREFIX = "undone: "
"""Prefix of the words for an undo."""
_LEFT_OUT = "skipped, because it cannot be undone"


Undoer = Callable[[UndoRequest], Undone]
"""Undoes a change of its kind; `undo` adds the id of the change. With conflicts, the change stays. The episodes' own events are excluded once they are undone; an undoer that keeps
something else, such as a file, restores it. After a crash it is called again."""


def _of_episodes(asked: UndoRequest) -> Undone:
    ids = tuple(dict.fromkeys(id_ for event in asked.events for id_ in sorted(ids_of(event))))
    edits = (
        _edit(event.data) if kind == changes.EDITED else EpisodeEdit(forgotten=kind == FORGOTTEN)
        for kind, event in {event.kind: event for event in asked.events}.items()
    )
    return Undone("", ids, f"{'; '.join(map(words_of, edits))}: {count(len(ids), 'episode')}")


def _edit(data: Mapping[str, Any]) -> EpisodeEdit:
    """Return an event's change; the event may be malformed."""
    rating, pinned = data.get("rating"), data.get("pinned")
    return EpisodeEdit(
        add_tags=texts_in(data, "add_tags"),
        remove_tags=texts_in(data, "remove_tags"),
        rating=rating if isinstance(rating, int) else None,
        pinned=pinned if isinstance(pinned, bool) else None,
    )


def _of_recording(asked: UndoRequest) -> Undone:
    return Undone("", tuple(event.id for event in asked.events), "recorded by hand: 1 episode")


def _of_entry(asked: UndoRequest) -> Undone:
    entries, event = Entries(asked.root), asked.events[0]
    return undo_entry_change(entries, event, Author(), dry_run=asked.dry_run, theirs_too=asked.theirs_too)


def _of_note(asked: UndoRequest) -> Undone:
    # Lines that were changed since cannot be restored by force: their place is unknown.
    return take_note_back(Notes(asked.root), asked.events[0], dry_run=asked.dry_run)


def _of_topics(asked: UndoRequest) -> Undone:
    return take_topics_back(Notes(asked.root), asked.events[0], dry_run=asked.dry_run)


def _of_approval(asked: UndoRequest) -> Undone:
    id_ = curation.revoke(Entries(asked.root), asked.events[0], dry_run=asked.dry_run)
    return Undone("", (id_,), f"approved the Rule {id_}")


def _of_confirmation(asked: UndoRequest) -> Undone:
    name = asked.events[0].text("path")
    return Undone("", (name,), f"still true: {name}")


def undo(episodes: Episodes, root: Path, only: str = "", *, dry_run: bool, theirs_too: bool) -> Undone:
    """Undo the user's last change that is not undone yet.

    `only`: id of the change to undo instead of the last one; `dry_run`: only report what would be undone; `theirs_too`:
    undo even what was changed since. Raises NotFoundError if there is no change to undo; UsageError if the named change
    cannot be undone; StoreError if the journal cannot be read or written.
    """
    episodes.index.follow()
    skipped: dict[str, str] = {}
    while True:
        change, kind, events = _last(episodes, skipped, only)
        if not events:
            skipped[change] = f"{_LEFT_OUT}: the journal no longer has the change {change}"
            continue
        try:
            asked = UndoRequest(root, episodes, change, events, dry_run, theirs_too)
            narrated_undo.refuse_elsewhere(asked)
            done = KINDS[kind].undo(asked)
            break
        except UsageError as error:
            if only:
                raise
            skipped[change] = f"{_LEFT_OUT}: {error}"
    if not dry_run and not done.conflicts:
        with episodes.journal.held():
            append_of_many(episodes.journal, UNDONE, {"change": change, "kind": kind, "actor": "person"}, done.ids)
        episodes.index.follow()
    words = f"changed since, and left as it is: {done.words}" if done.conflicts else f"{UNDONE_PREFIX}{done.words}"
    notes = (*skipped.values(), *done.notes)
    return replace(done, change=change, words=words, dry_run=dry_run, notes=notes)


def _last(episodes: Episodes, skipped: Collection[str], only: str) -> tuple[str, str, list[Event]]:
    kinds = list(KINDS)
    found = episodes.tables.rows(
        "SELECT change, kind FROM change WHERE NOT undone AND actor = 'person' AND kind IN (SELECT unnest(?)) "
        "AND change NOT IN (SELECT unnest(?::VARCHAR[])) AND (? = '' OR change = ?) ORDER BY event DESC LIMIT 1",
        [kinds, list(skipped), only, only],
    )
    if not found and only:
        raise NotFoundError(f"The change {only[:40]} was undone already, or is not of this project.")
    if not found:
        more = f" {count(len(skipped), 'other change')} cannot be undone." if skipped else ""
        raise NotFoundError(f"There is no change of yours to undo in this project.{more}")
    change, kind = found[0]
    return change, kind, events_of(episodes, change)


def events_of(episodes: Episodes, change: str, *, undone: bool = False) -> list[Event]:
    """Return the events of a change that the journal still has, in order.

    `undone`: those that were undone, instead of those that count.
    """
    places = "SELECT segment, place FROM change WHERE change = ? AND undone = ? ORDER BY event"
    rows = episodes.tables.rows(places, [change, undone])
    found = (next(episodes.journal.read(Position(segment, place)), None) for segment, place in rows)
    return [event for event in found if event is not None]


# --- redo ---


def _redo_entries(undone: UndoRequest) -> str:
    return Entries(undone.root).put(states_of(undone.events[0].data), Author()).event


def _redo_note(undone: UndoRequest) -> str:
    event, notes = undone.events[0], Notes(undone.root)
    id_, target = event.text("note"), event.text("target")
    if id_ and target:
        return NoteChanges(notes).move(id_, target).change
    if id_ and event.data.get("deleted") is True:
        return NoteChanges(notes).delete(id_).change
    return redo_note_change(notes, event)


def _redo_edits(undone: UndoRequest) -> str:
    """What an event states of episodes counts again once a later event of the journal states it."""
    change, journal = new_change(), undone.episodes.journal
    with journal.held():
        for event in undone.events:
            journal.append_held(event.kind, {**event.data, "change": change})
    return change


def _redo_recording(undone: UndoRequest) -> str:
    change, journal = new_change(), undone.episodes.journal
    with journal.held():
        data = {"change": change, "actor": "person"}
        append_of_many(journal, RESTORED, data, [event.id for event in undone.events])
    return change


class Kind(NamedTuple):
    """How changes of a kind are undone and redone."""

    undo: Undoer
    redo: Callable[[UndoRequest], str] | None = None
    """Returns the id of the new change; None: it is made again where it was made."""


KINDS: Mapping[str, Kind] = {
    CHANGED: Kind(_of_entry, _redo_entries),
    NOTE_CHANGED: Kind(_of_note, _redo_note),
    TOPIC_CHANGED: Kind(_of_topics),
    APPROVED: Kind(_of_approval),
    DECIDED: Kind(narrated_undo.undo_decision),
    changes.EDITED: Kind(_of_episodes, _redo_edits),
    changes.CONFIRMED: Kind(_of_confirmation, _redo_edits),
    FORGOTTEN: Kind(_of_episodes, _redo_edits),
    RESTORED: Kind(_of_episodes, _redo_edits),
    episode_record.KIND: Kind(_of_recording, _redo_recording),
}
"""By kind of event. To add one: its kind here, and in `changes.UNDOABLE`."""


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
    redoer = KINDS[kinds[0][0]].redo if kinds[0][0] in KINDS else None
    events = events_of(episodes, change, undone=True) if redoer is not None else []
    if redoer is None or not events:
        raise UsageError("This change cannot be redone.", hint="Make it again where it was made.")
    asked = UndoRequest(root, episodes, change, events)
    narrated_undo.refuse_elsewhere(asked)
    made = redoer(asked)
    again = undo(episodes, root, made, dry_run=True, theirs_too=False)
    return Edited(made, again.ids, again.words.removeprefix(UNDONE_PREFIX))
