"""Undoing a decision on the narrator's proposal: the written text is found by its mark and removed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_events import CHANGED as ENTRY_CHANGED
from cm_tui.engine.memory.entries.entry_events import REVERTED, State, states_of
from cm_tui.engine.memory.entries.entry_record import digest
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.notes import hunks, marked_lines
from cm_tui.engine.memory.notes.marked_lines import Written
from cm_tui.engine.memory.notes.note_saves import CHANGED as NOTE_CHANGED
from cm_tui.engine.memory.notes.note_undo import take_back as take_note_back
from cm_tui.engine.memory.notes.notes import Notes
from cm_tui.engine.memory.notes.topic_events import CHANGED as TOPIC_CHANGED
from cm_tui.engine.memory.notes.topic_undo import take_back as take_topics_back
from cm_tui.engine.memory.projection.narrated import DECIDED
from cm_tui.engine.platform.journal.event import Event, Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import UsageError
from cm_tui.model import Conflict, Undone
from cm_tui.model.author import Author

_TOPIC_ACTIONS = frozenset({"merge", "split", "retire", "create", "compress"})
_MOST_UNDONE = 200
_WORDS = {"approve": "approved", "reject": "rejected", "defer": "put off"}


class DecisionBack(NamedTuple):
    """Result of undoing a decision, or of a dry run.

    Attributes:
        words: the decision, for the user.
        conflicts: later changes; if there are any, nothing was undone.
    """

    words: str
    conflicts: tuple[Conflict, ...] = ()


def take_back(
    root: Path, said: Mapping[str, Any], events: Sequence[Event], *, words: Mapping[str, str] | None = None,
    undone: Callable[[], Sequence[Event]] = tuple, dry_run: bool = False, theirs_too: bool = False,
) -> DecisionBack:  # fmt: skip
    """Undo what a decision wrote.

    Args:
        root: of the checkout.
        said: data of the decision's event.
        events: all events of the same change that are still in the journal.
        words: `said` and `back`, the written line and the one before it, for when no event holds them any more.
        undone: returns the events that wrote lines of undone decisions, the newest first.
        dry_run: only report what would be undone.
        theirs_too: undo even what was changed since.

    Raises:
        UsageError: it cannot be undone.
        CmError: a note or a file of entries cannot be read or written.
    """
    name, verdict = _text(said, "proposal"), _text(said, "verdict")
    done = f"{_WORDS.get(verdict, 'decided on')} the proposal {name}"
    if verdict != "approve":
        return DecisionBack(done)
    if _text(said, "entry"):
        return _of_entry(Entries(root), said, events, done, dry_run=dry_run, theirs_too=theirs_too)
    if _text(said, "action") in _TOPIC_ACTIONS:
        return _of_topics(root, events, done, dry_run=dry_run)
    if not _text(said, "line") and _text(said, "action") != "remove":
        # It was there already: nothing was written.
        return DecisionBack(done)
    return _of_line(root, said, events, words or {}, done, undone, dry_run=dry_run, theirs_too=theirs_too)


def undone_writes(tables: EpisodeTables, journal: Journal, change: str) -> list[Event]:
    """Return the events that changed notes for decisions which were undone while others that they met still stood.

    What those left in a note, such as a heading, goes with the last line below it. `tables`: of the project's episodes,
    brought up to the journal; `change`: the decision that is undone now.
    """
    (first,) = tables.row("SELECT coalesce(min(event), 0) FROM change WHERE change = ?", [change])
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
    found = (next(journal.read(Position(segment, place)), None) for segment, place, _ in rows)
    return [event for event in found if event is not None]


def data_of(events: Sequence[Event]) -> Mapping[str, Any]:
    """Return the data of the decision's event. Raises UsageError if there is no such event."""
    found = next((event.data for event in events if event.kind == DECIDED), None)
    if found is None:
        raise UsageError("The journal no longer has the decision.")
    return found


# --- parts ---


def _of_line(
    root: Path, said: Mapping[str, Any], events: Sequence[Event], words: Mapping[str, str], done: str,
    undone: Callable[[], Sequence[Event]], *, dry_run: bool, theirs_too: bool,
) -> DecisionBack:  # fmt: skip
    notes = Notes(root)
    event = next((one for one in events if one.kind == NOTE_CHANGED), None)
    if _text(said, "action") == "remove":
        if event is None:
            return DecisionBack(f"{done}; {_by_hand('removed', words)}")
        return _told(done, take_note_back(notes, event, dry_run=dry_run))
    lines = hunks.read_hunks(event.data.get("hunks")) if event is not None else []
    name = _text(said, "proposal")
    written = Written(
        name=name, note=_text(said, "target"), digest=_text(said, "line"), made=_text(said, "made"),
        back=_before(lines, words) if _text(said, "action") == "replace" else "",
        said=_after(lines, name) or words.get("said", ""),
        event=event, undone=undone,
    )  # fmt: skip
    if _text(said, "action") == "replace" and not written.back:
        return DecisionBack(f"{done}; {_by_hand('replaced', words)}")
    return _told(done, marked_lines.take_back(notes, written, dry_run=dry_run, theirs_too=theirs_too))


def _by_hand(what: str, words: Mapping[str, str]) -> str:
    """Return the message where no journal of this machine has the replaced line."""
    back = words.get("back", "")
    return f"the line that it {what} has to be restored by hand{f': “{back}”' if back else ''}"


def _before(lines: Sequence[hunks.Hunk], words: Mapping[str, str]) -> str:
    before = next((line for one in lines for line in one.before), "")
    return marked_lines.without_prefix(before) or words.get("back", "")


def _after(lines: Sequence[hunks.Hunk], name: str) -> str:
    found = next((line for one in lines for line in one.after if name in marked_lines.marks_in(line)), "")
    return marked_lines.without_marks(marked_lines.without_prefix(found))


def _told(done: str, back: Undone) -> DecisionBack:
    return DecisionBack(done if back.conflicts else f"{done}, which {back.words}", back.conflicts)


def _of_topics(root: Path, events: Sequence[Event], done: str, *, dry_run: bool) -> DecisionBack:
    event = next((one for one in events if one.kind == TOPIC_CHANGED), None)
    if event is None:
        return DecisionBack(f"{done}; changes of topics, made elsewhere or long ago, stay: `cm topics` changes them")
    back = take_topics_back(Notes(root), event, dry_run=dry_run)
    return DecisionBack(f"{done}, which {back.words}", back.conflicts)


def _of_entry(
    entries: Entries, said: Mapping[str, Any], events: Sequence[Event], done: str, *, dry_run: bool, theirs_too: bool
) -> DecisionBack:
    id_, scope = _text(said, "entry"), "user" if _text(said, "entry_scope") == "user" else "project"
    file = entries.files["user" if scope == "user" else "project"]
    now = file.read().entries.get(id_)
    if now is None:
        return DecisionBack(f"{done}, whose Rule {id_} is there no more")
    if digest(now) != _text(said, "entry_digest") and not theirs_too:
        told = [one for event in events if event.kind == ENTRY_CHANGED for one in states_of(event.data)]
        then = next((one.after.content for one in told if one.after is not None and one.after.id == id_), "")
        return DecisionBack(done, (Conflict(id_, now.title, "", now.content, then, now.changed_by or now.actor),))
    if not dry_run:
        entries.put([State(now, None)], Author(), kind=REVERTED)
    return DecisionBack(f"{done}, which wrote the Rule {id_}")


def _text(said: Mapping[str, Any], name: str) -> str:
    """Return a text of an event, which may be malformed."""
    found = said.get(name)
    return found if isinstance(found, str) else ""
