"""Entries of a user and a project: save, change, forget; each change is an event of the journal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, Unpack

from cm_tui.counts import count
from cm_tui.engine.memory.entries.entry_file import DigestSets, EntryFile, LedgerFile, Stamps, writing
from cm_tui.engine.memory.entries.entry_record import (
    Details,
    changed_by,
    checked_category,
    checked_scope,
    digest,
    edited,
    has_same_content,
    new_entry,
    new_id,
    one_named,
)
from cm_tui.engine.memory.entries.entry_writing import CHANGED, Change, State, Writer, head_at
from cm_tui.errors import UsageError
from cm_tui.files import stamp_of
from cm_tui.lru import LRU
from cm_tui.model import Entry, EntryEdit, Page, Scope
from cm_tui.model.author import Author
from cm_tui.model.page import bounded

T = TypeVar("T")
_MOST_KEPT = 2
_SETTLED_S = 0.1
"""A file that was written so lately may be written again in the same tick of its clock."""

_kept: LRU[str, Any] = LRU(_MOST_KEPT)


def known(root: str, stamps: Callable[[], Stamps], read: Callable[[], T]) -> T:
    """Return the entries of a project, read again if a file has changed.

    `stamps`: of the files with the entries and of the ledgers; `read`: reads them.
    """
    before = stamps()
    key = f"{root}\0{before}"
    kept: T | None = _kept.get(key)
    if kept is not None:
        return kept
    found = read()
    newest = max((stamp.changed_ns for stamp in before if stamp), default=0)
    if time.time_ns() - newest > _SETTLED_S * 1e9 and stamps() == before:
        _kept.put(key, found)
    return found


MOST_ENTRIES = 20_000
"""Of one file."""


@dataclass(frozen=True, slots=True)
class Found:
    """All entries, with messages for the user."""

    entries: tuple[Entry, ...]
    """Those of the project first, each scope in the order of writing."""
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Entry, ...]:
        """Return those that the user wrote here or trusted, and those of agents."""
        return tuple(one for one in self.entries if not one.held)

    @property
    def recalled(self) -> tuple[Entry, ...]:
        """Return those that may be recalled."""
        return tuple(one for one in self.entries if not (one.held or one.never_recall))


class Entries:
    """The entries that a project sees: its own and the user's.

    `journal`: the folder of its journal, if known.
    """

    def __init__(self, root: Path, journal: Path | None = None) -> None:
        self.root = root
        self.ledger = LedgerFile.of(root) if journal is None else LedgerFile(journal.name)
        self.ledgers: dict[Scope, LedgerFile] = {"project": self.ledger, "user": LedgerFile.of_user()}
        """Ledgers with the forgotten entries of each scope."""
        self.files: dict[Scope, EntryFile] = {"project": EntryFile("project", root), "user": EntryFile("user", None)}

    def stamp(self) -> str:
        """Return what changes when any of it changes."""
        return repr([*self._stamps(), str(self.root)])

    def all(self) -> Found:
        """Return all entries.

        Raises RefusedError if the project's file leads elsewhere; StoreError if a file cannot be read.
        """
        return known(str(self.root), self._stamps, self._read)

    def _stamps(self) -> Stamps:
        files = (*(one.path for one in self.files.values()), *(one.path for one in self.ledgers.values()))
        return [stamp_of(file, follow=False) for file in files]

    def _read(self) -> Found:
        found: list[Entry] = []
        notes: list[str] = []
        for scope, file in self.files.items():
            content, standing = file.read(), self.ledgers[scope].read().digest_sets()
            notes += content.notes
            found += (_marked(one, standing) for one in content.entries.values())
        held = sum(one.held for one in found)
        if held:
            notes.append(_held(held))
        in_both = Counter(one.id for one in found)
        choose = "choose with `--scope user` or `--scope project`"
        notes += (f"Both scopes have an entry {id_}: {choose}." for id_, times in in_both.items() if times > 1)
        return Found(tuple(found), tuple(notes))

    def named(self, name: str, scope: str = "", *, held: bool = True) -> Entry:
        """Return an entry by its id or a prefix of it.

        `name`: what was typed. `scope`: only this scope; empty: either. `held`: include untrusted entries that came
        with the repository. Raises NotFoundError if no entry has that name; UsageError if the name is ambiguous, or the
        scope does not exist.
        """
        found = self.all()
        return one_named(found.entries if held else found.shown, name, checked_scope(scope))

    def is_approved(self, entry: Entry) -> bool:
        """Return whether an entry is not a Rule, or the user wrote, approved or trusted it.

        Raises StoreError if the approvals cannot be read.
        """
        return self.ledgers[entry.scope].read().digest_sets().is_approved(entry, digest(entry))

    def is_protected(self, entry: Entry) -> bool:
        """Return whether only the user may change an entry: the user wrote, changed, pinned or trusted it, or it holds everywhere.

        Raises StoreError if the trust data cannot be read.
        """
        if entry.pinned or entry.scope == "user" or "person" in {entry.actor, entry.changed_by}:
            return True
        return digest(entry) in self.ledger.read().trusted

    # --- changes ---

    def add(self, text: str, author: Author, **details: Unpack[Details]) -> tuple[Entry, tuple[str, ...]]:
        """Save an entry, unless the same text is already saved.

        Returns the entry, and messages for the user. Raises UsageError if the text is empty or too long, or the
        category does not exist; StoreError if it cannot be written.
        """
        return self.add_new(self.draft(text, author, **details), author)

    def add_new(
        self, new: Entry, author: Author, *, approves: bool | None = None, more: Mapping[str, Any] | None = None
    ) -> tuple[Entry, tuple[str, ...]]:
        """Save a drafted entry; otherwise as `add`.

        `new`: the entry, without an id; `author`: who writes it; `approves`: of a Rule, as for `put`; `more`: further
        data of the event.
        """
        scope = new.scope
        with writing():
            writer = self._writer()
            content = writer.content(scope)
            text = new.category, new.content, new.title
            if same := [one for one in content.entries.values() if (one.category, one.content, one.title) == text]:
                standing = self.ledgers[scope].read().digest_sets()
                for one in (_marked(one, standing) for one in same):
                    if not one.held:
                        return replace(one, again=True), content.notes
            if len(content.items) >= MOST_ENTRIES:
                raise UsageError(
                    f"{self.files[scope].path} already has {count(len(content.items), 'entry', 'entries')}.",
                    hint="Forget some first: `cm remember` lists them, `cm forget ID` forgets one.",
                )
            taken = {*content.entries, *self.files["user" if scope == "project" else "project"].read().entries}
            made = replace(new, id=new_id(taken))
            change = writer.write([State(None, made)], author, approves=approves, more=more)
        assert change.after is not None
        return replace(change.after, notes=()), change.notes

    def draft(self, text: str, author: Author, **details: Unpack[Details]) -> Entry:
        """Return the entry that `add` would write, without an id; otherwise as `add`."""
        return new_entry(text, author, head_at(self.root) or "", **details)

    def change(self, entry: Entry, edit: EntryEdit, author: Author) -> Change:
        """Change an entry in its current state.

        Raises NotFoundError if it no longer exists; UsageError if nothing would change, or a value is invalid;
        StoreError if it cannot be written.
        """
        wanted = edited(entry, edit)
        if has_same_content(wanted, replace(entry, held=False)):
            raise UsageError(f"The entry {entry.id} already has this content.", hint="Give a different value.")
        if edit != EntryEdit(pinned=edit.pinned, never_recall=edit.never_recall):
            # A pin protects while it is set; a text that the user changed stays the user's.
            wanted = changed_by(wanted, author)
        says_it = author.actor == "person" and (edit.content is not None or edit.category is not None)
        return self.put([State(entry, wanted)], author, approves=True if says_it else None)

    def put(
        self,
        states: Sequence[State],
        author: Author,
        *,
        kind: str = CHANGED,
        approves: bool | None = None,
        **more: Any,
    ) -> Change:
        """Replace states of entries by new ones, as one change.

        Args:
            states: the expected and the new state of each.
            author: who changes them.
            kind: of the event.
            approves: of Rules: the user approved the new text, or (False) has not; None: unchanged.
            more: further data of the event.

        Raises:
            NotFoundError: an entry is not in its expected state.
            RefusedError: the target scope has another entry with that id.
            StoreError: it cannot be written.
        """
        with writing():
            writer = self._writer()
            writer.check(states)
            return writer.write(states, author, kind=kind, approves=approves, more=more)

    def _writer(self) -> Writer:
        return Writer(self.root, self.files, self.ledgers)


def _marked(entry: Entry, standing: DigestSets) -> Entry:
    """Return an entry of a file with its data from the ledger."""
    said = digest(entry)
    if entry.scope == "project" and said not in standing.known:
        return replace(entry, held=True)
    return entry if standing.is_approved(entry, said) else replace(entry, unapproved=True)


def _held(number: int) -> str:
    return (
        f"{count(number, 'entry', 'entries')} came with this repository and {'is' if number == 1 else 'are'} held until you trust "
        f"{'it' if number == 1 else 'them'}: review with `cm trust --show`, decide with `cm trust`."
    )


# --- lists of entries ---


def page(found: Found, match: str, category: str, scope: str, *, held: bool, limit: int) -> Page[Entry]:
    """Return the entries that contain every word, the most recently changed first.

    `found`: all entries. `category`: only this category; empty: any. `scope`: only this scope; empty: both. `held`:
    include entries that are untrusted or never recalled. Raises UsageError if there is no such category or scope.
    """
    only = checked_scope(scope)
    wanted = checked_category(category) if category else None
    words = match.lower().split()
    rows = [
        one
        for one in (found.entries if held else found.recalled)
        if wanted in {None, one.category} and only in {None, one.scope} and _has(one, words)
    ]
    # Of equal times those later in the file come first: a stable sort keeps that.
    rows.reverse()
    rows.sort(key=lambda one: -one.timestamp)
    return Page(tuple(rows[: bounded(limit)]), len(rows), " ".join(found.notes))


def _has(entry: Entry, words: Sequence[str]) -> bool:
    if not words:
        return True
    texts = (entry.id, entry.title, entry.content, *entry.keywords, entry.category, entry.agent)
    said = "\n".join(texts).lower()
    return all(word in said for word in words)
