"""Lists of entries."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.memory.entries.entries import Found
from cm_tui.engine.memory.entries.entry_names import checked_scope
from cm_tui.engine.memory.entries.entry_record import checked_category
from cm_tui.model import Entry, Page
from cm_tui.model.page import bounded


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
