"""Undoing a decision on the narrator's proposal: the written text is found by its mark and removed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_record import digest
from cm_tui.engine.memory.entries.entry_writing import CHANGED as ENTRY_CHANGED
from cm_tui.engine.memory.entries.entry_writing import REVERTED, State, states_of
from cm_tui.engine.memory.episodes.episodes import Episodes
from cm_tui.engine.memory.notes import hunks, marked_lines
from cm_tui.engine.memory.notes.marked_lines import Written
from cm_tui.engine.memory.notes.note_undo import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.note_undo import undo_note_change as take_note_back
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_files import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.notes.topic_undo import undo_topic_change as take_topics_back
from cm_tui.engine.memory.projection.narrated import DECIDED, WORDED
from cm_tui.engine.platform.journal.event import Event, Position, text_in
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.errors import CmError, UsageError
from cm_tui.model import Conflict, Undone
from cm_tui.model.author import Author
from cm_tui.model.narrator import LINE_ACTIONS

_IN_FILES = frozenset({ENTRY_CHANGED, NOTE_CHANGED, TOPIC_CHANGED})
"""Kinds of events of what is written into files of a checkout."""
_MOST_UNDONE = 200
_WORDS = {"approve": "approved", "reject": "rejected", "defer": "put off"}


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
        raise UsageError("The journal no longer has the decision.")
    said, shown = told[DECIDED], told.get(WORDED, {}).get("shown")
    name, verdict = text_in(said, "proposal"), text_in(said, "verdict")
    done = f"{_WORDS.get(verdict, 'decided on')} the proposal {name}"
    back, action = Undone("", (), done), text_in(said, "action")
    if verdict == "approve" and text_in(said, "entry"):
        back = _of_entry(asked, said, done)
    elif verdict == "approve" and action and action not in LINE_ACTIONS:
        back = _of_topics(asked, done)
    elif verdict == "approve" and (text_in(said, "line") or action == "remove"):
        # Else it was there already: nothing was written.
        back = _of_line(asked, said, shown if isinstance(shown, dict) else {}, done)
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


def _of_line(asked: UndoRequest, said: Mapping[str, Any], shown: Mapping[str, Any], done: str) -> Undone:
    notes, action, name = Notes(asked.root), text_in(said, "action"), text_in(said, "proposal")
    event = _first(asked, NOTE_CHANGED)
    if action == "remove" and event is not None:
        return _undo_result(done, take_note_back(notes, event, dry_run=asked.dry_run))
    lines = hunks.read_hunks(event.data.get("hunks")) if event is not None else []
    back = _before(lines, shown) if action != "add" else ""
    if action == "remove" or (action == "replace" and not back):
        by_hand = f"the line that it {action}d has to be restored by hand{f': “{back}”' if back else ''}"
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


def _of_topics(asked: UndoRequest, done: str) -> Undone:
    event = _first(asked, TOPIC_CHANGED)
    if event is None:
        words = f"{done}; changes of topics, made elsewhere or long ago, stay: `cm topics` changes them"
        return Undone("", (), words)
    back = take_topics_back(Notes(asked.root), event, dry_run=asked.dry_run)
    return replace(back, words=f"{done}, which {back.words}")


def _of_entry(asked: UndoRequest, said: Mapping[str, Any], done: str) -> Undone:
    entries, id_ = Entries(asked.root), text_in(said, "entry")
    now = entries.files["user" if text_in(said, "entry_scope") == "user" else "project"].read().entries.get(id_)
    if now is None:
        return Undone("", (), f"{done}, whose Rule {id_} is there no more")
    if digest(now) != text_in(said, "entry_digest") and not asked.theirs_too:
        told = [one for event in asked.events if event.kind == ENTRY_CHANGED for one in states_of(event.data)]
        then = next((one.after.content for one in told if one.after is not None and one.after.id == id_), "")
        by = now.changed_by or now.actor
        return Undone("", (), done, (Conflict(id_, now.title, "", now.content, then, by),))
    if not asked.dry_run:
        entries.put([State(now, None)], Author(), kind=REVERTED)
    return Undone("", (), f"{done}, which wrote the Rule {id_}")
