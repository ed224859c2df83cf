"""Undoing a change of an entry, by its event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cm_tui.counts import noun
from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_record import all_named, changed_by, has_same_content, storable
from cm_tui.engine.memory.entries.entry_writing import CHANGED, REVERTED, State, states_of
from cm_tui.engine.platform.journal.event import RESTORED as OF_BACKUP
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import START, Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Conflict, Entry, Forgetting, Undone
from cm_tui.model.author import Author
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.ids import ambiguous, plain_id, quoted

# --- who forgot an item, when and why, from its event ---


def forgetting_of(event: Event) -> Forgetting:
    """Return who forgot an item, from the event."""
    said = (" ".join(storable(event.text(name)).split()) for name in ("actor", "agent", "reason"))
    actor, agent, reason = (text[:REASON_CHARACTERS] for text in said)
    return Forgetting(actor or "person", agent, event.time, reason)


# --- undoing a change of an entry, by its event ---


def undo_entry_change(
    entries: Entries, events: Sequence[Event], author: Author, *, dry_run: bool = False, theirs_too: bool = False
) -> Undone:
    """Restore the state of entries before a change, of all or none.

    `events`: those of the change, of kind `entry.changed`; `author`: who undoes it; `dry_run`: only report what would
    be undone; `theirs_too`: undo it even if an entry was changed again since. Raises UsageError if they are no change
    of an entry; StoreError if it cannot be written.
    """
    event, states = events[0], [state for one in events if one.kind == CHANGED for state in states_of(one.data)]
    if not states:
        raise UsageError(f"The event {event.id} is not a change to an entry.")
    words, ids = _words(states), tuple(dict.fromkeys(one.told.id for one in states))
    left: list[State] = []
    for before, after in states:
        now = _now(entries, State(before, after))
        if has_same_content(now, before):
            continue
        if not has_same_content(now, after) and not theirs_too:
            told = State(before, after).told.id
            return Undone("", (told,), words, (_conflict(told, before, now, after),))
        left.append(State(now, before))
    if dry_run or not left:
        return Undone("", ids, words)
    change = entries.put(left, author, kind=REVERTED, undoes=event.id)
    return Undone("", ids, words, notes=change.notes)


def _conflict(id_: str, back: Entry | None, now: Entry | None, then: Entry | None) -> Conflict:
    """Return an entry with a later change, which undoing the earlier one would lose."""
    title = next(entry.title for entry in (now, back, then) if entry is not None)
    before, current, yours = (entry.content if entry else "" for entry in (back, now, then))
    by = f"{now.changed_by} {now.changed_agent}".strip() if now is not None else ""
    return Conflict(id_, title, before, current, yours, by)


def _now(entries: Entries, state: State) -> Entry | None:
    """Return the entry of a change as it is now, in whichever of its scopes it lies."""
    places = [one.scope for one in (state.after, state.before) if one is not None]
    found = (entries.files[scope].read().entries.get(state.told.id) for scope in places)
    return next((one for one in found if one is not None), None)


def restore(entries: Entries, name: str, author: Author, whole: str = "") -> tuple[Entry, str]:
    """Restore a forgotten entry in its last state; return it, and the id of the change.

    `name`: its id, or a prefix of it; `author`: who restores it; `whole`: a change that it is part of. Raises
    NotFoundError if no forgotten entry has that name; UsageError if the name is ambiguous; StoreError if something
    cannot be read or written.
    """
    found = forgotten_named(entries, name)
    if found is None:
        raise NotFoundError(
            f"Forgotten entry not found: {quoted(name.strip())}.", hint="`cm remember --forgotten` lists them."
        )
    # Restoring a Rule does not approve it.
    is_approved = entries.is_approved(replace(found, held=False))
    change = entries.put([State(None, changed_by(found, author))], author, approves=is_approved, change=whole)
    assert change.after is not None
    return change.after, whole or change.event


def forgotten_named(entries: Entries, name: str) -> Entry | None:
    """Return a forgotten entry by its id or a prefix of it; None: no such entry.

    Raises UsageError if the name is ambiguous; StoreError if the journal cannot be read.
    """
    found = all_named(forgotten(entries), name)
    if len(found) > 1:
        raise ambiguous(plain_id(name), "entry", sorted(one.id for one in found))
    return found[0] if found else None


def forgotten(entries: Entries) -> tuple[Entry, ...]:
    """Return this project's forgotten entries from the journal, the oldest first.

    Raises StoreError if it cannot be read.
    """
    gone: dict[str, Entry] = {}
    changed_here: set[str] = set()
    for event in Journal.of(entries.root).read(START):
        if event.kind not in {CHANGED, REVERTED}:
            continue
        for before, after in states_of(event.data):
            told = after or before
            assert told is not None
            if event.data.get(OF_BACKUP) is not True:
                changed_here.add(told.id)
            elif told.id in changed_here:
                # A backup's entries come after those of this machine: they may be older, or anyone's.
                continue
            gone.pop(told.id, None)
            if after is None:
                gone[told.id] = replace(told, held=False, forgotten=forgetting_of(event))
    there = {one.id for one in entries.all().entries}
    return tuple(one for id_, one in gone.items() if id_ not in there)


def _words(states: Sequence[State]) -> str:
    first, many = states[0], len(states)
    if many == 1 and first.is_move:
        assert first.after is not None
        return f"moved the entry {first.told.id} to the scope {first.after.scope}"
    changed = "changed" if many == 1 else "merged"
    done = "wrote" if first.before is None else "forgot" if first.after is None else changed
    return f"{done} the {noun(many, 'entry', 'entries')} {', '.join(one.told.id for one in states)}"
