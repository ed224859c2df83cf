"""Undoing the user's last change in a project, of any kind, and making it again from its events: every id stays."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.entries import curation
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_record import digest
from cm_tui.engine.memory.entries.entry_undo import undo_entry_change
from cm_tui.engine.memory.entries.entry_writing import APPROVED, REVERTED, State, states_of
from cm_tui.engine.memory.entries.entry_writing import CHANGED as ENTRY_CHANGED
from cm_tui.engine.memory.episodes import changes
from cm_tui.engine.memory.episodes.edits import append_of_many, new_change, words_of
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.notes import hunks, marked_lines
from cm_tui.engine.memory.notes.marked_lines import Written
from cm_tui.engine.memory.notes.note_changes import NoteChanges
from cm_tui.engine.memory.notes.note_file import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.note_file import redo_note_change
from cm_tui.engine.memory.notes.note_file import undo_note_change as take_note_back
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_files import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.notes.topic_undo import undo_topic_change as take_topics_back
from cm_tui.engine.memory.projection import episode_record
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.engine.memory.projection.visibility import FORGOTTEN, RESTORED, UNDONE, ids_of
from cm_tui.engine.platform.journal.event import Event, Position, text_in, texts_in
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError, NotFoundError, UsageError
from cm_tui.model import Conflict, Edited, EpisodeEdit, Undone
from cm_tui.model.author import Author
from cm_tui.model.narrator import LINE_ACTIONS

# --- undoing a decision on the narrator's proposal: the written text is found by its mark and removed ---

_IN_FILES = frozenset({ENTRY_CHANGED, NOTE_CHANGED, TOPIC_CHANGED})
"""Kinds of events of what is written into files of a checkout."""
_MOST_UNDONE = 200
_WORDS = {"approve": "approved", "reject": "rejected", "defer": "deferred"}


class UndoRequest(NamedTuple):
    """A request to undo a change, or to make it again."""

    root: Path
    """Of the checkout."""
    episodes: Episodes
    """Of the project, brought up to the journal."""
    change: str
    events: Sequence[Event]
    """Those of the change that the journal still has, in order."""
    dry_run: bool = False
    """Write nothing."""
    theirs_too: bool = False
    """Undo even what was changed since."""


def refuse_elsewhere(asked: UndoRequest) -> None:
    """Refuse to undo what is in the files of another checkout: here it would look undone already.

    Raises UsageError if an event was made in another checkout of the project, which still exists.
    """
    for event in asked.events:
        made = text_in(event.data, "root") if event.kind in _IN_FILES else ""
        if made and _is_other_checkout(Path(made), asked):
            raise UsageError(f"It was made in the checkout {made}.", hint="Undo it there.")


def _is_other_checkout(made: Path, asked: UndoRequest) -> bool:
    try:
        is_other = made.is_dir() and not made.samefile(asked.root)
        return is_other and folder_of(made).name == asked.episodes.journal.folder.name
    except (CmError, OSError, ValueError):
        # A folder that git cannot open is no checkout of the project.
        return False


def undo_decision(asked: UndoRequest) -> Undone:
    """Undo what a decision of the user or of a policy wrote, also where its events came with a backup.

    Raises UsageError if it cannot be undone; CmError if a note or a file of entries cannot be read or written.
    """
    sql = "SELECT kind, data FROM narrator_event WHERE change = ? AND NOT undone"
    told = {kind: json.loads(data) for kind, data in asked.episodes.tables.rows(sql, [asked.change])}
    if DECIDED not in told:
        raise UsageError("The journal no longer contains the decision.")
    said, shown = told[DECIDED], told.get(WORDED, {}).get("shown")
    name, verdict = text_in(said, "proposal"), text_in(said, "verdict")
    done = f"{_WORDS.get(verdict, 'decided on')} the proposal {name}"
    back, action = Undone("", (), done), text_in(said, "action")
    if verdict == "approve" and text_in(said, "entry"):
        back = _of_approved_entry(asked, said, done)
    elif verdict == "approve" and action and action not in LINE_ACTIONS:
        back = _of_decided_topics(asked, done)
    elif verdict == "approve" and (text_in(said, "line") or action == "remove"):
        # Else it was there already: nothing was written.
        back = _of_decided_line(asked, said, shown if isinstance(shown, dict) else {}, done)
    return replace(back, ids=(name,) if name else ())


def _undone_writes(asked: UndoRequest) -> list[Event]:
    """Return the events that wrote lines of undone decisions while this one stood, the newest first.

    What those left in a note, such as a heading, goes with the last line below it.
    """
    tables = asked.episodes.tables
    (first,) = tables.row("SELECT coalesce(min(event), 0) FROM change WHERE change = ?", [asked.change])
    while True:
        rows = tables.rows(
            "SELECT segment, place, event FROM change WHERE kind = ? AND undone AND "
            "change IN (SELECT change FROM narrator_event) AND "
            "change IN (SELECT episode FROM episode_edit WHERE event > ?) ORDER BY event DESC LIMIT ?",
            [NOTE_CHANGED, first, _MOST_UNDONE],
        )
        earliest = min((row[2] for row in rows), default=first)
        if earliest >= first:
            break
        first = earliest
    found = (next(asked.episodes.journal.read(Position(segment, place)), None) for segment, place, _ in rows)
    return [event for event in found if event is not None]


# --- parts ---


def _of_decided_line(asked: UndoRequest, said: Mapping[str, Any], shown: Mapping[str, Any], done: str) -> Undone:
    notes, action, name = Notes(asked.root), text_in(said, "action"), text_in(said, "proposal")
    event = _first(asked, NOTE_CHANGED)
    if action == "remove" and event is not None:
        return _undo_result(done, take_note_back(notes, event, dry_run=asked.dry_run))
    lines = hunks.read_hunks(event.data.get("hunks")) if event is not None else []
    back = _before(lines, shown) if action != "add" else ""
    if action == "remove" or (action == "replace" and not back):
        by_hand = f"restore by hand the line that it {action}d{f': “{back}”' if back else ''}"
        return Undone("", (), f"{done}; {by_hand}")
    written = Written(
        name=name, note=text_in(said, "target"), digest=text_in(said, "line"), made=text_in(said, "made"), back=back,
        said=_after(lines, name) or text_in(shown, "text"), event=event, undone=partial(_undone_writes, asked),
    )  # fmt: skip
    return _undo_result(
        done, marked_lines.undo_line(notes, written, dry_run=asked.dry_run, theirs_too=asked.theirs_too)
    )


def _first(asked: UndoRequest, kind: str) -> Event | None:
    return next((one for one in asked.events if one.kind == kind), None)


def _before(lines: Sequence[hunks.Hunk], shown: Mapping[str, Any]) -> str:
    before = next((line for one in lines for line in one.before), "")
    return marked_lines.without_prefix(before) or text_in(shown, "old")


def _after(lines: Sequence[hunks.Hunk], name: str) -> str:
    found = next((line for one in lines for line in one.after if name in marked_lines.marks_in(line)), "")
    return marked_lines.without_marks(marked_lines.without_prefix(found))


def _undo_result(done: str, back: Undone) -> Undone:
    return replace(back, words=done if back.conflicts else f"{done}, which {back.words}")


def _of_decided_topics(asked: UndoRequest, done: str) -> Undone:
    event = _first(asked, TOPIC_CHANGED)
    if event is None:
        words = f"{done}; changes to topics made elsewhere or long ago remain: edit them with `cm topics`"
        return Undone("", (), words)
    back = take_topics_back(Notes(asked.root), event, dry_run=asked.dry_run)
    return replace(back, words=f"{done}, which {back.words}")


def _of_approved_entry(asked: UndoRequest, said: Mapping[str, Any], done: str) -> Undone:
    entries, id_ = Entries(asked.root), text_in(said, "entry")
    now = entries.files["user" if text_in(said, "entry_scope") == "user" else "project"].read().entries.get(id_)
    if now is None:
        return Undone("", (), f"{done}, whose Rule {id_} no longer exists")
    if digest(now) != text_in(said, "entry_digest") and not asked.theirs_too:
        told = [one for event in asked.events if event.kind == ENTRY_CHANGED for one in states_of(event.data)]
        then = next((one.after.content for one in told if one.after is not None and one.after.id == id_), "")
        by = now.changed_by or now.actor
        return Undone("", (), done, (Conflict(id_, now.title, "", now.content, then, by),))
    if not asked.dry_run:
        entries.put([State(now, None)], Author(), kind=REVERTED)
    return Undone("", (), f"{done}, which wrote the Rule {id_}")


# --- undoing the user's last change in a project, of any kind, and making it again from its events: every id stays ---

UNDONE_PREFIX = "undone: "
"""Prefix of the words for an undo."""
_LEFT_OUT = "skipped, because it cannot be undone"


Undoer = Callable[[UndoRequest], Undone]
"""Undoes a change of its kind; `undo` adds the id of the change. With conflicts, the change stays. The episodes' own events are excluded once they are undone; an undoer that keeps
something else, such as a file, restores it. After a crash it is called again."""


def _of_items(asked: UndoRequest) -> Undone:
    """Undo a change of episodes, of entries, or of both: what one command forgot or restored."""
    told = [event for event in asked.events if event.kind == ENTRY_CHANGED]
    kinds = {event.kind: event for event in asked.events if event.kind != ENTRY_CHANGED}
    back = Undone("", (), "")
    if told:
        entries, by = Entries(asked.root), Author()
        back = undo_entry_change(entries, told, by, dry_run=asked.dry_run, theirs_too=asked.theirs_too)
    if not kinds or back.conflicts:
        return back
    ids = tuple(dict.fromkeys(id_ for event in asked.events for id_ in sorted(ids_of(event))))
    edits = (
        _edit(event.data) if kind == changes.EDITED else EpisodeEdit(forgotten=kind == FORGOTTEN)
        for kind, event in kinds.items()
    )
    words = f"{'; '.join(map(words_of, edits))}: {count(len(ids), 'episode')}"
    return replace(back, ids=(*back.ids, *ids), words=f"{back.words}; {words}" if told else words)


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
            skipped[change] = f"{_LEFT_OUT}: the journal no longer contains the change {change}"
            continue
        try:
            asked = UndoRequest(root, episodes, change, events, dry_run, theirs_too)
            refuse_elsewhere(asked)
            done = KINDS[kind].undo(asked)
            break
        except UsageError as error:
            if only:
                raise
            skipped[change] = f"{_LEFT_OUT}: {error}"
    if not dry_run and not done.conflicts:
        if kind == ENTRY_CHANGED:
            # With episodes it is undone as theirs, which are shown or hidden by it.
            kind = next((event.kind for event in events if event.kind != ENTRY_CHANGED), kind)
        with episodes.journal.held():
            append_of_many(episodes.journal, UNDONE, {"change": change, "kind": kind, "actor": "person"}, done.ids)
        episodes.index.follow()
    words = f"changed since, left unchanged: {done.words}" if done.conflicts else f"{UNDONE_PREFIX}{done.words}"
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
        raise NotFoundError(f"The change {only[:40]} is already undone, or belongs to another project.")
    if not found:
        more = f" {count(len(skipped), 'other change')} cannot be undone." if skipped else ""
        raise NotFoundError(f"No change of yours to undo in this project.{more}")
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


def _redo_note(undone: UndoRequest) -> str:
    event, notes = undone.events[0], Notes(undone.root)
    id_, target = event.text("note"), event.text("target")
    if id_ and target:
        return NoteChanges(notes).move(id_, target).change
    if id_ and event.data.get("deleted") is True:
        return NoteChanges(notes).delete(id_).change
    return redo_note_change(notes, event)


def _redo_items(undone: UndoRequest) -> str:
    """What an event states of episodes counts again once a later event of the journal states it."""
    told = [event for event in undone.events if event.kind == ENTRY_CHANGED]
    states = [state for event in told for state in states_of(event.data)]
    change = Entries(undone.root).put(states, Author()).event if states else new_change()
    journal = undone.episodes.journal
    with journal.held():
        for event in undone.events:
            if event not in told:
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
    ENTRY_CHANGED: Kind(_of_items, _redo_items),
    NOTE_CHANGED: Kind(_of_note, _redo_note),
    TOPIC_CHANGED: Kind(_of_topics),
    APPROVED: Kind(_of_approval),
    DECIDED: Kind(undo_decision),
    changes.EDITED: Kind(_of_items, _redo_items),
    changes.CONFIRMED: Kind(_of_confirmation, _redo_items),
    FORGOTTEN: Kind(_of_items, _redo_items),
    RESTORED: Kind(_of_items, _redo_items),
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
        raise NotFoundError(f"The change {change[:40]} was not undone, or belongs to another project.")
    redoer = KINDS[kinds[0][0]].redo if kinds[0][0] in KINDS else None
    events = events_of(episodes, change, undone=True) if redoer is not None else []
    if redoer is None or not events:
        raise UsageError("This change cannot be redone.", hint="Redo it where it was made.")
    asked = UndoRequest(root, episodes, change, events)
    refuse_elsewhere(asked)
    made = redoer(asked)
    again = undo(episodes, root, made, dry_run=True, theirs_too=False)
    return Edited(made, again.ids, again.words.removeprefix(UNDONE_PREFIX))
