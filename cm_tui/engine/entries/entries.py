"""The entries of a user and of a project: written down, changed, forgotten; each change is an event of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.entries.entry_file import Content, EntryFile, writing
from cm_tui.engine.entries.entry_names import one_named
from cm_tui.engine.entries.entry_record import IF_SAID, digest, entry_data, new_id, read_entry, says_the_same
from cm_tui.engine.entries.entry_text import Author, changed_by, edited, new_entry
from cm_tui.engine.entries.ledger import LedgerFile
from cm_tui.engine.git.git_dir import git_folders, head_of
from cm_tui.engine.journal.journal import Journal
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Entry, EntryEdit, Scope

CHANGED = "entry.changed"
"""Kind of the event that says what an entry was before a change and what it is after."""
REVERTED = "entry.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""
MOST_ENTRIES = 20_000
"""Of one file."""


@dataclass(frozen=True, slots=True)
class Found:
    """All entries, and what has to be said of them."""

    entries: tuple[Entry, ...]
    """Those of the project first, each scope in the order in which they were written."""
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Entry, ...]:
        """Return those that may be in an answer."""
        return tuple(one for one in self.entries if not one.held)


class Change(NamedTuple):
    """One change of an entry.

    Attributes:
        event: id of the event that tells of it.
        before: the entry before; None: there was none.
        after: the entry after; None: it was forgotten.
        notes: what has to be said.
    """

    event: str
    before: Entry | None
    after: Entry | None
    notes: tuple[str, ...] = ()


class Entries:
    """The entries that a project sees: its own and the user's.

    Args:
        root: the project's root.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.ledger = LedgerFile.of(root)
        self.ledgers: dict[Scope, LedgerFile] = {"project": self.ledger, "user": LedgerFile.of_user()}
        """Which say what is gone of each scope."""
        self.files: dict[Scope, EntryFile] = {"project": EntryFile("project", root), "user": EntryFile("user", None)}

    def stamp(self) -> str:
        """Return what changes when any of it changes."""
        return repr([*(file.stamp() for file in self.files.values()), self.ledger.stamp(), str(self.root)])

    def all(self) -> Found:
        """Return all entries.

        Raises:
            RefusedError: the project's file leads elsewhere.
            StoreError: a file cannot be read.
        """
        known = self.ledger.read().known()
        found: list[Entry] = []
        notes: list[str] = []
        for scope, file in self.files.items():
            content = file.read()
            notes += content.notes
            found += (
                replace(one, held=scope == "project" and digest(one) not in known) for one in content.entries.values()
            )
        held = sum(one.held for one in found)
        if held:
            notes.append(_held(held))
        return Found(tuple(found), tuple(notes))

    def named(self, name: str, *, held: bool = True) -> Entry:
        """Return the entry of an id, or of the beginning of one.

        Args:
            name: what was typed.
            held: also one that came with the repository and that nobody trusted.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several.
        """
        found = self.all()
        return one_named(found.entries if held else found.shown, name)

    def is_protected(self, entry: Entry) -> bool:
        """Return whether only a person changes an entry: one wrote, changed, pinned or trusted it, or it holds everywhere.

        Raises:
            StoreError: what was trusted cannot be read.
        """
        if entry.pinned or entry.scope == "user" or "person" in {entry.actor, entry.changed_by}:
            return True
        return digest(entry) in self.ledger.read().trusted

    # --- changes ---

    def add(
        self,
        text: str,
        author: Author,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: Iterable[str] = (),
        scope: Scope = "project",
    ) -> tuple[Entry, tuple[str, ...]]:
        """Write something down; what stands there already word for word is not written twice.

        Returns:
            The entry, and what has to be said.

        Raises:
            UsageError: there is nothing to write down, it is too long, or there is no such category.
            StoreError: it cannot be written.
        """
        new = self.draft(text, author, category=category, title=title, keywords=keywords, scope=scope)
        with writing():
            content = self.files[scope].read()
            known = self.ledger.read().known()
            for one in content.entries.values():
                if _same_words(one, new) and (scope == "user" or digest(one) in known):
                    return replace(one, again=True), content.notes
            if len(content.items) >= MOST_ENTRIES:
                raise UsageError(
                    f"{self.files[scope].path} has {count(len(content.items), 'entry', 'entries')} already.",
                    hint="Forget some first: `cm remember` lists them, `cm forget ID` forgets one.",
                )
            taken = {*content.entries, *self.files["user" if scope == "project" else "project"].read().entries}
            made = replace(new, id=new_id(taken))
            change = self._make(scope, content, None, made, author)
        return made, change.notes

    def draft(
        self,
        text: str,
        author: Author,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: Iterable[str] = (),
        scope: Scope = "project",
    ) -> Entry:
        """Return the entry that `add` would write, without an id; its arguments and errors are those of `add`."""
        head = self.head() or ""
        return new_entry(text, author, category=category, title=title, keywords=keywords, scope=scope, head=head)

    def change(self, entry: Entry, edit: EntryEdit, author: Author) -> Change:
        """Change an entry, as it is now.

        Raises:
            NotFoundError: it is gone.
            UsageError: nothing of it would change, or a value cannot be.
            StoreError: it cannot be written.
        """
        wanted = edited(entry, edit)
        if says_the_same(wanted, replace(entry, held=False)):
            raise UsageError(f"The entry {entry.id} says that already.", hint="Give what is to change.")
        if edit != EntryEdit(pinned=edit.pinned):
            # A pin protects as long as it is there; a text that a person changed stays theirs.
            wanted = changed_by(wanted, author)
        return self.put(entry.scope, entry, wanted, author)

    def put(
        self,
        scope: Scope,
        before: Entry | None,
        after: Entry | None,
        author: Author,
        *,
        kind: str = CHANGED,
        **more: Any,
    ) -> Change:
        """Put one state of an entry in the place of another one.

        Args:
            scope: of the file.
            before: as it is thought to be; None: there is none.
            after: as it is to be; None: none.
            author: who changes it.
            kind: of the event.
            more: what the event says besides.

        Raises:
            NotFoundError: it is not, or no longer, as it was thought to be.
            StoreError: it cannot be written.
        """
        with writing():
            content = self.files[scope].read()
            id_ = (before or after).id  # type: ignore[union-attr] # one of them is there
            if not says_the_same(content.entries.get(id_), before):
                raise NotFoundError(f"The entry {id_} is not as it was any more.", hint="Look again, and repeat it.")
            return self._make(scope, content, before, after, author, kind, **more)

    def head(self) -> str | None:
        """Return the commit that the checkout stands at."""
        folders = git_folders(self.root)
        return head_of(folders).sha if folders is not None else None

    def _make(
        self,
        scope: Scope,
        content: Content,
        before: Entry | None,
        after: Entry | None,
        author: Author,
        kind: str = CHANGED,
        **more: Any,
    ) -> Change:
        """Make a change while the files are held: known first, so that it never waits for trust; told; then written."""
        id_ = (before or after).id  # type: ignore[union-attr] # one of them is there
        # As it will be read: what the file cannot say is not in the digest either.
        after = None if after is None else read_entry(entry_data(after), scope)
        self._note(scope, id_, after)
        data = {
            "scope": scope,
            "id": id_,
            "before": None if before is None else entry_data(before),
            "after": None if after is None else entry_data(after),
            "actor": author.actor,
            "agent": author.agent,
            "session": author.session,
            **more,
        }
        event = Journal.of(self.root).append(kind, data, head=self.head())
        content.items[:] = _placed(content.items, id_, after)
        note = self.files[scope].write(content)
        notes = (note,) if note else ()
        return Change(event.id, before, None if after is None else replace(after, notes=notes), notes)

    def _note(self, scope: Scope, id_: str, after: Entry | None) -> None:
        """Note in the ledger that an entry is written here, or gone."""
        ledger = self.ledgers[scope].read()
        if after is None:
            ledger.note_gone([id_])
        elif scope == "project":
            ledger.note_written(digest(after))
        elif id_ not in ledger.gone:
            return
        if after is not None:
            ledger.note_back(id_)
        self.ledgers[scope].write(ledger)


def _placed(items: Sequence[Any], id_: str, after: Entry | None) -> list[Any]:
    """Return the items of a file with one in its place, which keeps what this version does not know of it."""
    placed: list[Any] = []
    found = False
    for item in items:
        if found or not isinstance(item, dict) or item.get("id") != id_:
            placed.append(item)
            continue
        found = True
        if after is not None:
            known = {*entry_data(after), *IF_SAID}
            rest = {name: value for name, value in item.items() if name not in known}
            placed.append({**entry_data(after), **rest})
    if not found and after is not None:
        placed.append(entry_data(after))
    return placed


def _same_words(one: Entry, other: Entry) -> bool:
    return (one.category, one.content, one.title) == (other.category, other.content, other.title)


def _held(number: int) -> str:
    return (
        f"{count(number, 'entry', 'entries')} came with this repository and {'waits' if number == 1 else 'wait'} until you trust "
        f"{'it' if number == 1 else 'them'}: `cm trust --show` lists, `cm trust` decides."
    )
