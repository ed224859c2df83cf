"""Linking a checkout to the memory of the project that it claims to be: for a person, and nobody else.

Servers, hooks and the daemon never import this; a contract in `pyproject.toml` holds them to it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from cm_tui.engine.api import projects
from cm_tui.engine.entries import entry_backup, ledger
from cm_tui.engine.entries.ledger import LedgerFile
from cm_tui.engine.git import checkout_links
from cm_tui.engine.git.identity import claimed, identify
from cm_tui.engine.journal.journal import Journal
from cm_tui.engine.journal.location import base
from cm_tui.engine.journal.merge import take_over
from cm_tui.engine.recalls.recall_log import RecallLog
from cm_tui.errors import RefusedError, StoreError, UsageError


@dataclass(frozen=True, slots=True)
class MemoryLink:
    """Whose memory a checkout has, and whose it could have."""

    root: str
    claims: str
    """What it says it is: `remote:…`, `root-commit:…`; `path:…` for a folder that claims nothing."""
    linked: bool
    """It shares the memory of what it claims to be, or is the first to make one."""
    shared_with: tuple[str, ...]
    """Folders of the checkouts that have that memory, this one left out."""
    gone: tuple[str, ...]
    """Those of them that are no longer there: moved, or removed."""
    owner: str
    """The name under which it would be linked."""
    project: str
    """Name of the folder of the memory that it claims."""
    store: str
    """Folder of the store that it has now."""


def memory_link(folder: Path | None) -> MemoryLink:
    """Return how the checkout around a folder is linked.

    Raises:
        CmError: there is no such project.
    """
    root, store = projects.locate(folder, force=True)
    claim = claimed(root)
    known = checkout_links.owners(claim.folder.name) if not claim.text.startswith("path:") else None
    own = checkout_links.owner_of(root)
    others = sorted(owner for owner in known or () if owner != own)
    return MemoryLink(
        root=str(root),
        claims=claim.text,
        linked=not identify(root).claims,
        shared_with=tuple(map(checkout_links.main_folder, others)),
        gone=tuple(checkout_links.main_folder(owner) for owner in others if not Path(owner).exists()),
        owner=own,
        project=claim.folder.name,
        store=str(store),
    )


def link(shown: MemoryLink) -> MemoryLink:
    """Give a checkout the memory that a person was shown, and bring along what its own journal holds.

    Checkouts that are no longer there lose their part in it: whatever comes to lie in their place is a stranger. Its own
    store is left: whoever has it open has to let go first; it can be removed afterwards.

    Entries that a backup brought before there was a checkout come along.

    Args:
        shown: what the person agreed to.

    Raises:
        RefusedError: the checkout claims something else by now.
        UsageError: there is nothing to link it to.
        StoreError: something cannot be read or written.
    """
    if shown.linked:
        raise UsageError(f"{shown.root} has the memory of {shown.claims} already.")
    root = Path(shown.root)
    if memory_link(root) != shown:
        raise RefusedError(f"{root} has changed meanwhile; nothing was linked.", hint="Look again: `cm link --show`.")
    own = Journal.of(root)
    take_over(own, Journal(base() / shown.project))
    ledger.take_over(LedgerFile(own.folder.name), LedgerFile(shown.project))
    RecallLog.named(shown.project).take_over(RecallLog.named(own.folder.name))
    checkout_links.link(shown.project, root)
    _remove(own.folder)
    entry_backup.take_waiting(root)
    return memory_link(root)


def unlink(folder: Path | None) -> MemoryLink:
    """Part a checkout from the memory that it shares: from now on it has one of its own.

    Raises:
        UsageError: it shares none.
        StoreError: it cannot be written down.
    """
    before = memory_link(folder)
    if not before.linked or not before.shared_with:
        raise UsageError(f"{before.root} shares its memory with no other checkout.")
    root = Path(before.root)
    checkout_links.unlink(claimed(root).folder.name, root)
    return memory_link(root)


def _remove(journal: Path) -> None:
    try:
        if journal.is_dir():
            shutil.rmtree(journal)
    except OSError as error:
        raise StoreError(f"Cannot remove {journal}: {error}", hint="It was taken over; remove it yourself.") from error
