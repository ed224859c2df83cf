"""The files of entries: of a project, of its user, and the ledger of both."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Self, get_args

from cm_tui import paths
from cm_tui.counts import count, noun
from cm_tui.engine.memory.entries.entry_record import entry_data, read_entry
from cm_tui.engine.platform.journal.event import texts_in
from cm_tui.engine.platform.journal.location import folder_of
from cm_tui.engine.platform.list_file import ListContent, ListFile
from cm_tui.errors import UsageError
from cm_tui.files import Stamp, read_bounded
from cm_tui.model import Category, Entry, Proposal, ProposalKind, Remembered, Scope
from cm_tui.state_file import holding, reported, write_json

# --- a file of entries ---

FILE = "memory.json"
"""Name of a project's file, below its folder `.cm`."""
Stamps = list[Stamp | None]
"""What tells of several files that one of them has changed."""


@dataclass(slots=True)
class Content(ListContent):
    """Content of a file."""

    entries: dict[str, Entry] = field(default_factory=dict)
    """The readable ones by id, in the order of the file."""
    parsed: dict[int, tuple[Any, Entry]] = field(default_factory=dict)
    """All readable items by Python's `id`, and the entry of each."""


class EntryFile(ListFile[Content]):
    """One file of entries. `root`: the project's root; None: the user's file."""

    key = "entries"
    most_bytes = 32_000_000
    next_write = "`cm remember`"
    instead = "Replace it with a regular file or folder, or save entries for all projects: `cm remember --scope user`."
    empty = Content

    def __init__(self, scope: Scope, root: Path | None) -> None:
        super().__init__(root, folder() / "user.json" if root is None else FILE)
        self.scope = scope

    def listed(self, found: Any) -> Any:
        """Return the list, which may be all of the file."""
        return super().listed(found) if isinstance(found, dict) else found

    def understood(self, items: list[Any], other: dict[str, Any], last: Content | None = None) -> Content:
        """Read the entries; of several with one id the first counts."""
        content = Content(items=items, other=other)
        known = last.parsed if last is not None else {}
        unread = twice = 0
        for item in items:
            entry = known[id(item)][1] if id(item) in known else read_entry(item, self.scope)
            if entry is None:
                unread += 1
                continue
            content.parsed[id(item)] = item, entry
            if entry.id in content.entries:
                twice += content.entries[entry.id] != entry
            else:
                content.entries[entry.id] = entry
        content.notes = tuple(_notes(self.path, unread, twice))
        return content


def folder() -> Path:
    """Return the folder of the user's entries and of the ledgers."""
    return paths.data_dir() / "entries"


def writing() -> AbstractContextManager[None]:
    """Hold all files of entries: no other process or thread changes one meanwhile.

    Raises StoreError if another one holds the lock, or the folder cannot be used.
    """
    return holding(folder() / "lock")


def _notes(path: Path, unread: int, twice: int) -> Iterator[str]:
    if unread:
        yield f"{count(unread, 'entry', 'entries')} of {path} {noun(unread, 'is', 'are')} not valid: ignored and left unchanged."
    if twice:
        yield f"{count(twice, 'entry', 'entries')} of {path} {noun(twice, 'has', 'have')} the id of another one; only the first is used."


# --- the ledger of a project's entries on this machine: those written here or trusted, and agents' proposals ---
#
# A project's entries come with its repository, and may be anyone's. So their author field is not trusted: the ledger,
# among the user's own data, has the digest of each entry that was written here or that the user trusted.

MOST_PROPOSALS = 200
"""Further proposals are rejected: no user would read them."""
_MOST_BYTES = 64_000_000
_MOST_DIGESTS = 50_000
RULE: Category = "Rule"
"""Category of instructions for agents: the user approves each."""
_OF_USER = "of-the-user"
"""Name of the ledger outside projects: the journals' folder names end in a digest."""


class DigestSets(NamedTuple):
    """Sets of entry digests in a ledger.

    Attributes:
        known: entries that may be recalled.
        written: entries written on this machine.
        approved: Rules that the user approved, and entries that the user trusted.
        doubted: Rules that the user has not approved, whatever author they name.
    """

    known: frozenset[str]
    written: frozenset[str]
    approved: frozenset[str]
    doubted: frozenset[str]

    def is_approved(self, entry: Entry, digest: str) -> bool:
        """Return whether an entry is not a Rule, or the user wrote, approved or trusted it."""
        if entry.category != RULE or digest in self.approved:
            return True
        by_person = entry.actor == "person" and entry.changed_by in {"", "person"}
        return by_person and digest not in self.doubted and (entry.scope == "user" or digest in self.written)


@dataclass(slots=True)
class Ledger:
    """Digests of entries, and proposals in the order in which they were made."""

    written: list[str] = field(default_factory=list)
    """Of entries that were written on this machine."""
    trusted: list[str] = field(default_factory=list)
    """Entries that came with the repository and that the user trusted."""
    refused: list[str] = field(default_factory=list)
    """Entries that the user has seen and does not trust."""
    proposals: list[Proposal] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    """Ids of entries forgotten or erased on this machine: no backup restores them."""
    approved: list[str] = field(default_factory=list)
    """Rules that the user approved."""
    doubted: list[str] = field(default_factory=list)
    """Rules that the user has not approved: from a backup, or made of someone else's text."""

    def digest_sets(self) -> DigestSets:
        """Return the sets of digests."""
        approved = frozenset((*self.approved, *self.trusted))
        known = frozenset((*self.written, *self.trusted))
        return DigestSets(known, frozenset(self.written), approved, frozenset(self.doubted) - approved)

    def note_written(self, digest: str) -> None:
        """Note that an entry was written here."""
        self.written = [*(one for one in self.written if one != digest), digest][-_MOST_DIGESTS:]

    def note_approval(self, digest: str, *, is_approved: bool) -> None:
        """Record whether the user approved a Rule.

        `is_approved`: False: it waits for approval.
        """
        told, other = (self.approved, self.doubted) if is_approved else (self.doubted, self.approved)
        if digest in other:
            other.remove(digest)
        if digest not in told:
            told.append(digest)
            del told[:-_MOST_DIGESTS]

    def note_removed(self, ids: Iterable[str]) -> None:
        """Note that entries were forgotten or erased here."""
        self.gone = list(dict.fromkeys((*self.gone, *ids)))[-_MOST_DIGESTS:]

    def note_restored(self, id_: str) -> None:
        """Record that the user restored an entry."""
        self.gone = [one for one in self.gone if one != id_]

    def propose(self, new: Proposal) -> Proposal:
        """Add a proposal; the same one is not added twice. Raises UsageError: too many wait already."""
        for known in self.proposals:
            about = known.target == new.target or known.kind == "write"
            if about and (known.kind, _proposed_content(known)) == (new.kind, _proposed_content(new)):
                return known
        if len(self.proposals) >= MOST_PROPOSALS:
            raise UsageError(
                f"{len(self.proposals):,} proposals are already waiting for the user.",
                hint="The user must accept or decline some first: `cm forget --proposed` lists them.",
            )
        self.proposals.append(new)
        return new


_LISTS = tuple(one.name for one in fields(Ledger) if one.name != "proposals")
"""The lists of digests and ids."""


def _proposed_content(proposal: Proposal) -> Any:
    """Return what an entry would say; None: nothing, it would be forgotten."""
    names = ("content", "title", "category", "keywords", "pinned", "never_recall")
    return proposal.after and tuple(getattr(proposal.after, name) for name in names)


class LedgerFile:
    """The ledger of a project; clones and worktrees that share its memory share it.

    `project`: name of the project's folder among the journals.
    """

    def __init__(self, project: str) -> None:
        self.path = folder() / f"{project}.json"

    @classmethod
    def of(cls, root: Path) -> Self:
        """Return the ledger of the project at a root. Raises RefusedError if git's data cannot be opened."""
        return cls(folder_of(root).name)

    @classmethod
    def of_user(cls) -> Self:
        """Return the ledger of the user's own entries, shared by all projects, with the forgotten ones."""
        return cls(_OF_USER)

    def read(self) -> Ledger:
        """Read it; until a damaged one is replaced by the next write, nothing of the repository is trusted.

        Raises StoreError if it cannot be read.
        """
        return self._read() or Ledger()

    def write(self, ledger: Ledger) -> None:
        """Write it; called while the entries are held. Raises StoreError if it cannot be written."""
        plain = {name: getattr(ledger, name) for name in _LISTS}
        plain |= {"version": 1, "proposals": [_plain(one) for one in ledger.proposals]}
        write_json(self.path, plain, keep_damaged=True)

    def _read(self) -> Ledger | None:
        """None: it is damaged."""
        with reported(self.path, "read"):
            try:
                found = json.loads(read_bounded(self.path, _MOST_BYTES))
            except FileNotFoundError:
                return Ledger()
            except (ValueError, RecursionError):
                return None
        if not isinstance(found, dict):
            return None
        proposals = [one for data in _list(found.get("proposals")) if (one := _proposal(data)) is not None]
        return Ledger(**{name: [*texts_in(found, name)] for name in _LISTS}, proposals=proposals)


def take_over(source: LedgerFile, target: LedgerFile) -> None:
    """Copy one project's ledger data and proposals to another project.

    Raises StoreError if one of them cannot be read or written.
    """
    with writing():
        own, other = source.read(), target.read()
        for name in _LISTS:
            setattr(other, name, list(dict.fromkeys((*getattr(own, name), *getattr(other, name)))))
        known = {one.id for one in other.proposals}
        other.proposals += [one for one in own.proposals if one.id not in known]
        if own != Ledger():
            target.write(other)


def _list(found: object) -> list[Any]:
    return found if isinstance(found, list) else []


def _plain(proposal: Proposal) -> dict[str, Any]:
    before, after = (one and entry_data(one) for one in (proposal.before, proposal.after))
    return {**asdict(proposal), "before": before, "after": after}


def _proposal(data: Any) -> Proposal | None:
    if not isinstance(data, Mapping):
        return None
    texts = {name: data.get(name) for name in ("id", "target", "words", "reason", "agent", "session")}
    found: dict[str, Any] = {**texts, **{name: data.get(name) for name in ("kind", "of", "time")}}
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(found["time"], (int, float)):
        return None
    if found["kind"] not in get_args(ProposalKind) or found["of"] not in get_args(Remembered):
        return None
    found |= {name: entry_in(data.get(name)) for name in ("before", "after")}
    return Proposal(**found | {"time": float(found["time"])})


def entry_in(data: Any) -> Entry | None:
    """Return the entry in a record of the ledger or journal, with its scope; None: no entry."""
    scope = data.get("scope") if isinstance(data, Mapping) else None
    known: Iterable[Scope] = get_args(Scope)
    return next((read_entry(data, one) for one in known if one == scope), None)
