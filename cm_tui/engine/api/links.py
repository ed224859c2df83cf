"""Linking a checkout to the memory of the project that it claims to be: only for the user.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cm_tui import paths
from cm_tui.engine.api import projects
from cm_tui.engine.api.known_projects import known_project
from cm_tui.engine.code.mainline import user_marks
from cm_tui.engine.memory.entries import entry_backup, entry_file, entry_writing
from cm_tui.engine.memory.entries.entry_file import LedgerFile
from cm_tui.engine.memory.notes import note_file, topic_files
from cm_tui.engine.memory.recalls.recall_log import RecallLog
from cm_tui.engine.memory.recording import gate
from cm_tui.engine.platform.git import checkout_links
from cm_tui.engine.platform.git.identity import claimed, claimed_memory, identify
from cm_tui.engine.platform.journal import removal
from cm_tui.engine.platform.journal.event import Position
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.journal.location import base
from cm_tui.engine.platform.journal.removal import take_over
from cm_tui.errors import RefusedError, StoreError, UsageError
from cm_tui.files import stamp_of, write_atomically
from cm_tui.state_file import reported


@dataclass(frozen=True, slots=True)
class EarlierMemory:
    """A memory that was created at a checkout's path and that the checkout does not use."""

    project: str
    """Name of its folder."""
    identity: str
    """The checkout's identity then; empty where nothing was indexed."""
    entries: int
    notes: int
    """Number of notes changed through cm."""
    episodes: int
    other_repository: bool
    """Another repository made it, which was in the same folder before."""


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """Whose memory a checkout has, and whose it could have."""

    root: str
    claims: str
    """Identity by git: `remote:…`, `root-commit:…`; `path:…` for a folder without git."""
    identity: str
    """Identity when its memory was created, whatever git says later."""
    linked: bool
    """No other checkout has a memory of that identity, or this one shares it."""
    shared_with: tuple[str, ...]
    """Folders of the other checkouts that have that memory."""
    gone: tuple[str, ...]
    """Those that no longer exist: moved, or removed."""
    owner: str
    """The name under which it would be linked."""
    project: str
    """Folder name of the memory that it claims; of its own where it is linked."""
    store: str
    """Folder of the store that it has now."""
    earlier: tuple[EarlierMemory, ...] = ()
    """Memories that were made in its place, and that it does not have."""


def memory_link(folder: Path | None) -> MemoryLink:
    """Return how the checkout around a folder is linked. Raises CmError if there is no such project."""
    root, store = projects.locate(folder, force=True)
    mine, claim = identify(root), claimed(root)
    linked = not mine.claims
    project = (mine if linked else claimed_memory(root)).folder.name
    known = checkout_links.owners(project) or frozenset()
    own = checkout_links.owner_of(root)
    # A new repository at a known path is not the recorded one.
    others = sorted(owner for owner in known if owner != own or not checkout_links.is_current(project, owner))
    is_gone = {owner: owner == own or not Path(owner).exists() for owner in others}
    return MemoryLink(
        root=str(root),
        claims=claim.text,
        identity=mine.text,
        linked=linked,
        shared_with=tuple(map(checkout_links.main_folder, others)),
        gone=tuple(checkout_links.main_folder(owner) for owner in others if is_gone[owner]),
        owner=own,
        project=project,
        store=str(paths.project_store(store)),
        earlier=tuple(_earlier(root, without=project)),
    )


def _earlier(root: Path, *, without: str) -> Iterator[EarlierMemory]:
    for project, other in checkout_links.earlier(root).items():
        if project == without:
            continue
        entries, notes = _counts(Journal.named(project))
        episodes = projects.episodes_of(project)
        if entries or notes or episodes:
            yield EarlierMemory(project, known_project(project).identity, entries, notes, episodes, other)


def _counts(journal: Journal) -> tuple[int, int]:
    """Return how many entries and notes the events of a journal leave."""
    entries: set[str] = set()
    notes: set[str] = set()
    for event in journal.read():
        if event.kind in {entry_writing.CHANGED, entry_writing.REVERTED}:
            for state in entry_writing.states_of(event.data):
                (entries.add if state.after is not None else entries.discard)(state.told.id)
        elif event.kind in {note_file.CHANGED, note_file.REVERTED}:
            (notes.discard if event.data.get("deleted") else notes.add)(str(event.data.get("note")))
        elif event.kind in {topic_files.CHANGED, topic_files.REVERTED}:
            for told in topic_files.files_of(event):
                (notes.add if told.after is not None else notes.discard)(told.note)
    return len(entries), len(notes)


def link(shown: MemoryLink) -> MemoryLink:
    """Give a checkout the memory that the user was shown, and merge in what its own journal holds.

    Checkouts that no longer exist lose their link, since any other repository may appear in their place. The checkout's
    own journal is removed unless other checkouts have it; its store stays, and can be removed once every process has
    closed it.

    Entries that a backup restored before the checkout existed are added too. `shown`: what the user agreed to. Raises
    RefusedError if the checkout claims something else now; UsageError if there is no memory to link it to; StoreError
    if something cannot be read or written.
    """
    if shown.linked:
        raise UsageError(f"{shown.root} already uses the memory of {shown.identity}.")
    root, own = _as_shown(shown), Journal.of(Path(shown.root))
    target = claimed_memory(root)
    is_shared = _has_others(own.folder.name, root)
    end = _take_over(own.folder.name, shown.project)
    checkout_links.link(target.text, target.name, root)
    if not is_shared:
        _drop(own.folder.name, shown.project, end)
    entry_backup.take_waiting(root)
    return memory_link(root)


def take_along(shown: MemoryLink, earlier: EarlierMemory) -> MemoryLink:
    """Merge an earlier memory of a checkout into its current one, with marks and pauses.

    The earlier one is removed unless other checkouts have it. After a crash, it can be run again. `shown`: what the
    user was shown; `earlier`: the memory that the user chose. Raises RefusedError if something has changed since;
    StoreError if something cannot be read or written.
    """
    root = _as_shown(shown)
    target = Journal.of(root)
    checkout_links.claim(identify(root).text, identify(root).name, root)
    end = _take_over(earlier.project, target.folder.name)
    if checkout_links.forget_earlier(earlier.project, root):
        _drop(earlier.project, target.folder.name, end)
    return memory_link(root)


def _as_shown(shown: MemoryLink) -> Path:
    root = Path(shown.root)
    if memory_link(root) != shown:
        raise RefusedError(f"{root} has changed since; nothing was linked.", hint="Review it again: `cm link --show`.")
    return root


def _has_others(project: str, root: Path) -> bool:
    """Return whether another checkout has a memory."""
    own = checkout_links.owner_of(root)
    others = (one for one in checkout_links.owners(project) or () if one != own)
    return any(Path(one).exists() and checkout_links.is_current(project, one) for one in others)


def _take_over(source: str, target: str) -> Position:
    """Merge one project's memory into another's; the source, which other checkouts may have, is unchanged.

    Returns the place in the source's journal up to which events were copied.
    """
    end = take_over(Journal.named(source), Journal.named(target))
    for name in removal.BESIDE:
        old, new = base() / source / name, base() / target / name
        if old.is_dir():
            shutil.copytree(old, new, copy_function=_copy_missing, dirs_exist_ok=True)
    user_marks.add(projects.store_folder(target), user_marks.read(projects.store_folder(source)))
    gate.take_over(source, target)
    entry_file.take_over(LedgerFile(source), LedgerFile(target))
    return end


def _copy_missing(source: str, target: str) -> None:
    """Copy a file that is not there; the runs in a ledger are added to those of another one."""
    old, there = Path(source).read_bytes(), Path(target)
    with reported(there):
        new = there.read_bytes() if stamp_of(there, follow=False) else None
        if new is None or (there.suffix == ".jsonl" and old not in new):
            write_atomically(there, old if new is None else b"\n".join((new, old)))


def _drop(source: str, target: str, end: Position) -> None:
    """Remove a memory that was taken over, with what was written to it after a place taken over before."""
    journal = Journal.named(source)
    if journal.folder.is_dir():
        with journal.held():
            take_over(journal, Journal.named(target), end)
            # Before the next one who waits can write to it; a system that removes no open file does so afterwards.
            shutil.rmtree(journal.folder, ignore_errors=True)
    _remove(journal.folder)
    if gate.folder().is_dir():
        gate.end(source)
    RecallLog.named(target).take_over(RecallLog.named(source))
    entry_file.take_over(LedgerFile(source), LedgerFile(target))
    LedgerFile(source).path.unlink(missing_ok=True)


def unlink(folder: Path | None) -> MemoryLink:
    """Separate a checkout from the memory that it shares: from then on it has its own.

    Raises UsageError if it does not share one; StoreError if it cannot be written.
    """
    before = memory_link(folder)
    if not before.linked or not before.shared_with:
        raise UsageError(f"{before.root} shares its memory with no other checkout.")
    root = Path(before.root)
    checkout_links.unlink(before.project, root)
    return memory_link(root)


def _remove(journal: Path) -> None:
    try:
        if journal.is_dir():
            shutil.rmtree(journal)
    except OSError as error:
        raise StoreError(f"Cannot remove {journal}: {error}", hint="It was merged; remove it yourself.") from error
