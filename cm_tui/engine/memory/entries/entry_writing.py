"""Writing changes of entries under the lock: first the ledger, then the journal, then the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.engine.memory.entries.entry_file import RULE, Content, EntryFile, LedgerFile, entry_in
from cm_tui.engine.memory.entries.entry_record import IF_SAID, digest, entry_data, has_same_content, read_entry
from cm_tui.engine.platform.git.git_dir import git_folders, head_of
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.model import Entry, Scope
from cm_tui.model.author import Author

# --- states of entries in events of the journal, before and after a change ---

CHANGED = "entry.changed"
"""Kind of the event with entries before and after a change."""
REVERTED = "entry.reverted"
"""Kind of the event that records an undone change; it cannot itself be undone."""
APPROVED = "entry.approved"
"""Kind of the event for the approval of a Rule."""
_STATES = 200
"""Of one event, at most: so many entries become one at once."""


class State(NamedTuple):
    """One entry before a change and after it: in another scope where it was moved.

    Attributes:
        before: None: there was none.
        after: None: it was forgotten.
    """

    before: Entry | None
    after: Entry | None

    @property
    def told(self) -> Entry:
        """Return the entry that it is about."""
        told = self.before or self.after
        assert told is not None
        return told

    @property
    def is_move(self) -> bool:
        """Return whether the entry moves to another scope."""
        return self.before is not None and self.after is not None and self.before.scope != self.after.scope


def event_data(states: Sequence[State], author: Author, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event data of a change: the first entry, then the others."""
    first, *others = states
    told = {"also": [_plain(one) for one in others]} if others else {}
    who = {"actor": author.actor, "agent": author.agent, "session": author.session}
    given = {name: value for name, value in more.items() if value != ""}
    return {"scope": first.told.scope, "id": first.told.id, **_plain(first), **told, **who, **given}


def states_of(data: Mapping[str, Any]) -> tuple[State, ...]:
    """Return the states of entries in an event of the kinds above; invalid ones are skipped."""
    others = data.get("also")
    each = [data, *(others[:_STATES] if isinstance(others, list) else ())]
    found = (State(entry_in(one.get("before")), entry_in(one.get("after"))) for one in each if isinstance(one, Mapping))
    return tuple(one for one in found if one.before is not None or one.after is not None)


def changed_ids(event: Event) -> tuple[str, ...]:
    """Return the ids of the entries in such an event."""
    own = event.text("id")
    return tuple(dict.fromkeys((*([own] if own else ()), *(one.told.id for one in states_of(event.data)))))


def is_sound(data: Mapping[str, Any]) -> bool:
    """Return whether data is only about a change of entries."""
    others = data.get("also", [])
    if not isinstance(others, list) or not all(isinstance(one, Mapping) for one in others):
        return False
    return all(_is_state(one) for one in (data, *others))


def _is_state(data: Mapping[str, Any]) -> bool:
    states = [data.get("before"), data.get("after")]
    return any(states) and all(one is None or entry_in(one) is not None for one in states)


def _plain(state: State) -> dict[str, Any]:
    named = {"before": state.before, "after": state.after}
    return {name: None if one is None else entry_data(one) for name, one in named.items()}


# --- writing changes of entries under the lock ---


class Change(NamedTuple):
    """A change of entries that was made.

    Attributes:
        event: id of its event.
        states: of each entry.
        notes: messages for the user.
    """

    event: str
    states: tuple[State, ...]
    notes: tuple[str, ...] = ()

    @property
    def after(self) -> Entry | None:
        """Return the first entry as it is now; None: it was forgotten."""
        after = self.states[0].after
        return None if after is None else replace(after, notes=self.notes)


class Writer:
    """Files of both scopes with content and ledger, for one change.

    `files`: of each scope; `ledgers`: of each scope.
    """

    def __init__(self, root: Path, files: Mapping[Scope, EntryFile], ledgers: Mapping[Scope, LedgerFile]) -> None:
        self._root = root
        self._files = files
        self._ledgers = ledgers
        self.contents: dict[Scope, Content] = {}

    def content(self, scope: Scope) -> Content:
        """Return the content of a file. Raises CmError if it cannot be read or written."""
        if scope not in self.contents:
            file = self._files[scope]
            content = file.read_complete()
            # Before the journal records a change that cannot be made.
            file.refuse_unwritable(content)
            self.contents[scope] = content
        return self.contents[scope]

    def check(self, states: Sequence[State]) -> None:
        """Check that entries are in their expected state.

        Raises NotFoundError if one is not, or no longer, in that state; RefusedError if its target already has another
        entry with its id.
        """
        for before, after in states:
            told = before or after
            assert told is not None
            if not has_same_content(self.content(told.scope).entries.get(told.id), before):
                raise NotFoundError(f"The entry {told.id} has changed meanwhile.", hint="Review it and try again.")
            if after is None or not State(before, after).is_move:
                continue
            there = self.content(after.scope).entries.get(after.id)
            # After a crash in the middle of a move, the same entry is in both scopes.
            if there is not None and not has_same_content(there, after):
                raise RefusedError(
                    f"The scope {after.scope} already has an entry {after.id}.", hint="Merge the two, or forget one."
                )

    def write(
        self,
        states: Sequence[State],
        author: Author,
        *,
        kind: str = CHANGED,
        approves: bool | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> Change:
        """Write a change that passed `check`.

        `states`: of each entry. `author`: who changes them. `approves`: of Rules: the user approved the new text, or
        (False) has not; None: unchanged. `more`: further data of the event. Raises StoreError if it cannot be written.
        """
        # As they will be read: the digest excludes what a file cannot hold.
        as_read = tuple(State(one.before, None if one.after is None else _as_read(one.after)) for one in states)
        for state in as_read:
            self._note(state, approves)
        said = event_data(as_read, author, more or {})
        if any(one.scope == "project" for state in as_read for one in state if one is not None):
            said["root"] = str(self._root)
        event = Journal.of(self._root).append(kind, said, head=head_at(self._root))
        for state in as_read:
            self._place(state)
        # Additions are written before removals: after a crash in between, a moved entry is in both scopes.
        gaining = {one.after.scope for one in as_read if one.after is not None}
        touched = {one.scope for state in as_read for one in state if one is not None}
        notes = [self._save(scope, as_read) for scope in sorted(touched, key=lambda one: one not in gaining)]
        done = tuple(State(one.before, self._marked(one.after)) for one in as_read)
        return Change(event.id, done, tuple(note for note in notes if note))

    def _save(self, scope: Scope, states: Sequence[State]) -> str:
        """Write one file; the change is repeated in another program's newer content.

        Raises NotFoundError if that program changed the same entry: its text stays; StoreError if it cannot be written.
        """

        def redo(found: Content) -> None:
            self.contents[scope] = found
            self.check(states)
            for state in states:
                self._place(state, scope)

        return self._files[scope].write(self.content(scope), redo)

    def _marked(self, entry: Entry | None) -> Entry | None:
        """Return an entry with the word that it is a Rule that no person approved."""
        if entry is None or self._ledgers[entry.scope].read().digest_sets().is_approved(entry, digest(entry)):
            return entry
        return replace(entry, unapproved=True)

    def _note(self, state: State, approves: bool | None) -> None:
        """Record in the ledgers what is written, removed, approved or doubted."""
        before, after = state
        verdict = self._verdict(state, approves)
        if before is not None and (after is None or state.is_move):
            ledger = self._ledgers[before.scope].read()
            ledger.note_removed([before.id])
            self._ledgers[before.scope].write(ledger)
        if after is None or not self._has_news(after, verdict):
            return
        ledger = self._ledgers[after.scope].read()
        if after.scope == "project":
            ledger.note_written(digest(after))
        ledger.note_restored(after.id)
        if verdict is not None:
            ledger.note_approval(digest(after), is_approved=verdict)
        self._ledgers[after.scope].write(ledger)

    def _has_news(self, after: Entry, verdict: bool | None) -> bool:
        """Return whether the ledger has to be written: the user's has no list of written entries."""
        return after.scope == "project" or verdict is not None or after.id in self._ledgers[after.scope].read().gone

    def _verdict(self, state: State, approves: bool | None) -> bool | None:
        """Return whether a Rule is approved from now on; None: the data on its digest decides."""
        before, after = state
        if after is None or after.category != RULE:
            return None
        if approves is not None or before is None or before.category != RULE:
            return approves
        was_approved = self._ledgers[before.scope].read().digest_sets().is_approved(before, digest(before))
        same_content = before.content == after.content
        if was_approved:
            return True if same_content and before.title == after.title else None
        return False if same_content else None

    def _place(self, state: State, only: Scope | None = None) -> None:
        before, after = state
        if before is not None and (after is None or state.is_move) and only in {None, before.scope}:
            items = self.content(before.scope).items
            items[:] = _placed(items, before.id, None)
        if after is not None and only in {None, after.scope}:
            items = self.content(after.scope).items
            items[:] = _placed(items, after.id, after)


def head_at(root: Path) -> str | None:
    """Return the commit that is checked out."""
    folders = git_folders(root)
    return head_of(folders).sha if folders is not None else None


def _as_read(entry: Entry) -> Entry:
    found = read_entry(entry_data(entry), entry.scope)
    assert found is not None
    return found


def _placed(items: Sequence[Any], id_: str, after: Entry | None) -> list[Any]:
    """Return the items of a file with one replaced, keeping its fields unknown to this version."""
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    at = ids.index(id_) if id_ in ids else len(items)
    if after is None:
        return [*items[:at], *items[at + 1 :]]
    known = {*entry_data(after), *IF_SAID}
    rest = {name: value for item in items[at : at + 1] for name, value in item.items() if name not in known}
    return [*items[:at], {**entry_data(after), **rest}, *items[at + 1 :]]
