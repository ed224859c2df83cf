"""Why a command is not possible now."""

from __future__ import annotations

from collections.abc import Callable

from cm_tui.model import Entry, Note, Proposal
from cm_tui.tui.modes.memory.view import MemoryView
from cm_tui.tui.modes.memory.writing import cannot_edit_note
from cm_tui.tui.screens.commands import unless

Reason = Callable[[MemoryView], str | None]
no_item: Reason = unless(lambda screen: screen.item, "there is nothing under the cursor")
no_rows: Reason = unless(lambda screen: screen.items.rows, "nothing is listed")
no_proposal: Reason = unless(lambda screen: isinstance(screen.item, Proposal), "not a proposal of an agent")


def nothing_to_read(screen: MemoryView) -> str | None:
    """Say why there is no text."""
    return None if screen.is_querying and screen.hits.current is not None else no_item(screen)


def no_query(screen: MemoryView) -> str | None:
    """Say why nothing is explained in the place of the text."""
    if not screen.is_querying:
        return "only search results have scores (s searches)"
    return None if screen.has_class("-narrow") else "both are on screen"


def entry_of(screen: MemoryView) -> Entry | None:
    """Return the entry under the cursor; None: it is none."""
    return screen.item if isinstance(screen.item, Entry) else None


def no_entry(screen: MemoryView) -> str | None:
    """Say why there is no entry."""
    return no_item(screen) or (None if isinstance(screen.item, Entry) else "not an entry")


def why_fixed(entry: Entry) -> str | None:
    """Say why an entry stays as it is."""
    if entry.forgotten is not None:
        return "it was forgotten: d restores it"
    return "it is included in the clone: trust it first (T)" if entry.held else None


def cannot_pin(screen: MemoryView) -> str | None:
    """Say why it is not pinned, and not kept out of answers."""
    if isinstance(screen.item, Note):
        return "only entries can be pinned"
    entry = entry_of(screen)
    return no_entry(screen) if entry is None else why_fixed(entry)


def cannot_edit(screen: MemoryView) -> str | None:
    """Say why it is not changed in place."""
    item = screen.item
    if isinstance(item, Note):
        return cannot_edit_note(item)
    return why_fixed(item) if isinstance(item, Entry) else no_text(screen)


def cannot_edit_outside(screen: MemoryView) -> str | None:
    """Say why it is not opened in an editor."""
    item = screen.item
    if isinstance(item, Note):
        return None
    return why_fixed(item) if isinstance(item, Entry) else no_text(screen)


def no_text(screen: MemoryView) -> str | None:
    """Say why it has no text of its own."""
    return no_item(screen) or ("accept the proposal first (+)" if isinstance(screen.item, Proposal) else None)


def cannot_forget(screen: MemoryView) -> str | None:
    """Say why it is not forgotten."""
    item = screen.item
    if isinstance(item, Note) and not item.writable:
        return "it can only be changed in other programs"
    if isinstance(item, Entry) and item.held:
        return "it is included in the clone: T excludes it"
    return "decline the proposal instead (-)" if isinstance(item, Proposal) else no_item(screen)


def cannot_move(screen: MemoryView) -> str | None:
    """Say why it is not moved."""
    item = screen.item
    if isinstance(item, Note):
        return None if item.writable else "it can only be changed in other programs"
    return why_fixed(item) if isinstance(item, Entry) else no_text(screen)


def cannot_accept(screen: MemoryView) -> str | None:
    """Say why there is nothing to accept."""
    item = screen.item
    if isinstance(item, Proposal) or (isinstance(item, Entry) and item.unapproved):
        return None
    return no_item(screen) or "not a proposal of an agent or an unapproved Rule"


def no_double(screen: MemoryView) -> str | None:
    """Say why there is nothing to merge it with."""
    entry = entry_of(screen)
    if entry is not None and entry.id in screen.items.marks.doubles:
        return why_fixed(entry)
    return no_entry(screen) or "no near-duplicate entry"


def not_stale(screen: MemoryView) -> str | None:
    """Say why there is nothing to confirm."""
    item = screen.item
    if item is not None and screen.items.marks.is_stale(item):
        return None
    return no_item(screen) or "all names in it exist"


def cannot_fix(screen: MemoryView) -> str | None:
    """Return why a renamed symbol cannot be replaced."""
    if isinstance(screen.item, Note) and not_stale(screen) is None:
        return "it is a file of yours: e changes it"
    return not_stale(screen) or no_entry(screen)


def no_piece(screen: MemoryView) -> str | None:
    """Say why it is nothing for a pack."""
    item = screen.item
    if isinstance(item, Entry) and (item.held or item.forgotten is not None):
        return "it is excluded from results"
    if isinstance(item, Note) and not item.digest:
        return "it cannot be read"
    return no_text(screen)
