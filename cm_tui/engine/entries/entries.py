"""The entries of a user and of a project: written down, changed, forgotten; each change is an event of the journal."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.entries.entry_file import Content, EntryFile, writing
from cm_tui.engine.entries.entry_record import (
    CONTENT_CHARACTERS,
    TITLE_CHARACTERS,
    checked_category,
    digest,
    entry_data,
    first_line,
    new_id,
    read_entry,
    says_the_same,
    split_keywords,
    storable,
)
from cm_tui.engine.entries.keywords import keywords_of
from cm_tui.engine.entries.ledger import LedgerFile
from cm_tui.engine.git.git_dir import git_folders, head_of
from cm_tui.engine.journal import Journal
from cm_tui.engine.redaction import redact
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Actor, Entry, EntryEdit, Scope

CHANGED = "entry.changed"
"""Kind of the event that says what an entry was before a change and what it is after."""
REVERTED = "entry.reverted"
"""Kind of the event that says the same of a change that was taken back: it is not itself taken back."""
MOST_ENTRIES = 20_000
"""Of one file."""
SHORTEST_NAME = 4


class Author(NamedTuple):
    """Who asks for a change.

    Attributes:
        actor: a person, or who else.
        agent: name of the agent.
        session: id of its session.
    """

    actor: Actor = "person"
    agent: str = ""
    session: str = ""


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
        return _named(found.entries if held else found.shown, name)

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
        new = self._new(text, author, category, title, keywords, scope)
        with writing():
            content = self.files[scope].read()
            known = self.ledger.read().known()
            for one in content.entries.values():
                if _same_words(one, new) and (scope == "user" or digest(one) in known):
                    return one, content.notes
            if len(content.items) >= MOST_ENTRIES:
                raise UsageError(
                    f"{self.files[scope].path} has {count(len(content.items), 'entry', 'entries')} already.",
                    hint="Forget some first: `cm remember` lists them, `cm forget ID` forgets one.",
                )
            taken = {*content.entries, *self.files["user" if scope == "project" else "project"].read().entries}
            made = replace(new, id=new_id(taken))
            change = self._make(scope, content, None, made, author)
        return made, change.notes

    def change(self, entry: Entry, edit: EntryEdit, author: Author) -> Change:
        """Change an entry, as it is now.

        Raises:
            NotFoundError: it is gone.
            UsageError: nothing of it would change, or a value cannot be.
            StoreError: it cannot be written.
        """
        wanted = self.edited(entry, edit)
        if says_the_same(wanted, replace(entry, held=False)):
            raise UsageError(f"The entry {entry.id} says that already.", hint="Give what is to change.")
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

    def edited(self, entry: Entry, edit: EntryEdit) -> Entry:
        """Return an entry as it would be after an edit, without secrets.

        Raises:
            UsageError: a value cannot be.
        """
        # What was taken from the old text is taken from the new one again.
        own_title = "" if entry.title == first_line(entry.content) else entry.title
        own_words = () if entry.keywords in _derived(entry) else entry.keywords
        title, content, secrets = _clean(
            own_title if edit.title is None else edit.title, entry.content if edit.content is None else edit.content
        )
        given = own_words if edit.keywords is None else split_keywords([_word(one) for one in edit.keywords])
        return replace(
            entry,
            category=entry.category if edit.category is None else checked_category(edit.category),
            title=title or first_line(content),
            content=content,
            keywords=given or keywords_of(title, content),
            pinned=entry.pinned if edit.pinned is None else edit.pinned,
            timestamp=_now() if edit.content is not None or edit.title is not None else entry.timestamp,
            redacted=entry.redacted + secrets,
            held=False,
        )

    def _new(
        self, text: str, author: Author, category: str, title: str, keywords: Iterable[str], scope: Scope
    ) -> Entry:
        clean_title, content, secrets = _clean(title, text)
        if scope not in self.files:
            raise UsageError(f"There is no scope {scope[:40]!r}.", hint="Use `user` or `project`.")
        given = split_keywords([_word(one) for one in keywords])
        return Entry(
            id="",
            category=checked_category(category),
            title=clean_title or first_line(content),
            content=content,
            keywords=given or keywords_of(clean_title, content),
            scope=scope,
            timestamp=_now(),
            actor=author.actor,
            agent=redact(storable(author.agent)).text[:TITLE_CHARACTERS],
            session=storable(author.session)[:TITLE_CHARACTERS],
            commit=self.head() or "",
            redacted=secrets,
        )

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
        if after is not None and scope == "project":
            ledger = self.ledger.read()
            ledger.note_written(digest(after))
            self.ledger.write(ledger)
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
        return Change(event.id, before, after, (note,) if note else ())


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
            known = entry_data(replace(after, agent="-", session="-", commit="-", pinned=True, redacted=1)).keys()
            rest = {name: value for name, value in item.items() if name not in known}
            placed.append({**entry_data(after), **rest})
    if not found and after is not None:
        placed.append(entry_data(after))
    return placed


def _clean(title: str, content: str) -> tuple[str, str, int]:
    """Return title and content without secrets, and how many there were.

    Raises:
        UsageError: there is nothing, or too much.
    """
    text = storable(content).strip("\n").rstrip()
    if not text.strip():
        raise UsageError("There is nothing to remember.", hint='For example: cm remember "tests run with pytest -n 3"')
    if len(text) > CONTENT_CHARACTERS:
        raise UsageError(
            f"An entry takes at most {CONTENT_CHARACTERS:,} characters; this has {len(text):,}.",
            hint="Put it into a file of the project, and remember where it is.",
        )
    heading = redact(" ".join(storable(title).split())[: TITLE_CHARACTERS * 4])
    clean = redact(text)
    # What stands for a secret may be longer than the secret.
    return heading.text[:TITLE_CHARACTERS], clean.text[:CONTENT_CHARACTERS], heading.secrets + clean.secrets


def _derived(entry: Entry) -> tuple[tuple[str, ...], ...]:
    """Return the keywords that an entry may have got from its text: with the title that it was given, or without one."""
    return keywords_of(entry.title, entry.content), keywords_of("", entry.content)


def _word(text: str) -> str:
    return redact(storable(text)).text


def _same_words(one: Entry, other: Entry) -> bool:
    return (one.category, one.content, one.title) == (other.category, other.content, other.title)


def _named(entries: Sequence[Entry], name: str) -> Entry:
    wanted = name.strip()
    found = [one for one in entries if one.id == wanted] or [one for one in entries if one.id == wanted.lower()]
    if not found and len(wanted) >= SHORTEST_NAME:
        found = [one for one in entries if one.id.startswith(wanted.lower())]
    if not found:
        shown = wanted[:40].encode("ascii", "backslashreplace").decode()
        raise NotFoundError(f"There is no entry {shown!r}.", hint="`cm remember` lists them.")
    if len(found) > 1:
        places = " and ".join(f"{one.id} ({one.scope})" for one in found[:4])
        raise UsageError(f"{wanted!r} is more than one entry: {places}.", hint="Give more of the id.")
    return found[0]


def _held(number: int) -> str:
    return (
        f"{count(number, 'entry', 'entries')} came with this repository and {'waits' if number == 1 else 'wait'} until you trust "
        f"{'it' if number == 1 else 'them'}: `cm trust --show` lists, `cm trust` decides."
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
