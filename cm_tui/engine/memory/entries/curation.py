"""The user's curation of entries: move one to the other scope, merge several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_events import State
from cm_tui.engine.memory.entries.entry_record import CONTENT_CHARACTERS, split_keywords
from cm_tui.engine.memory.entries.entry_text import changed_by
from cm_tui.engine.memory.entries.entry_writing import Change
from cm_tui.engine.memory.entries.ledger import RULE
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import ENTRIES, Entry, Scope
from cm_tui.model.author import Author
from cm_tui.model.ids import plain_id

_MOST_AT_ONCE = 20


def move(entries: Entries, entry: Entry, scope: Scope, author: Author) -> Change:
    """Move an entry to the other scope; id and author stay.

    Raises UsageError if it is in that scope already; RefusedError if it waits for trust, or the scope has an entry with
    that id; NotFoundError if it no longer exists; StoreError if it cannot be written.
    """
    if entry.scope == scope:
        raise UsageError(f"The entry {entry.id} is in the scope {scope} already.")
    _check_known(entry)
    return entries.put([State(entry, replace(entry, scope=scope))], author)


def merge(entries: Entries, found: Sequence[Entry], author: Author) -> Change:
    """Merge entries into the first one; its text takes in the others', which are forgotten.

    `found`: the entries to merge; category, title and scope are those of the first. `author`: who merges them. Raises
    UsageError if there is only one entry, there are too many, or the text would be too long; RefusedError if one of
    them waits for trust; NotFoundError if one of them no longer exists; StoreError if it cannot be written.
    """
    first, *others = dict.fromkeys(found)
    if not others:
        raise UsageError("One entry alone cannot be merged.", hint="Give the ids of two or more.")
    if len(others) >= _MOST_AT_ONCE:
        raise UsageError(f"At most {_MOST_AT_ONCE} entries are merged at once; these are {len(others) + 1}.")
    for one in (first, *others):
        _check_known(one)
    merged = replace(
        first,
        content=_together(one.content for one in (first, *others)),
        keywords=split_keywords([word for one in (first, *others) for word in one.keywords]),
        timestamp=max(one.timestamp for one in (first, *others)),
        pinned=any(one.pinned for one in (first, *others)),
        # An entry that is never recalled keeps the merged one from being recalled.
        never_recall=any(one.never_recall for one in (first, *others)),
        made_from=tuple(dict.fromkeys(name for one in (first, *others) for name in _sources(one, first))),
        redacted=sum(one.redacted for one in (first, *others)),
    )
    if len(merged.content) > CONTENT_CHARACTERS:
        raise UsageError(
            f"Together they have {len(merged.content):,} characters, and an entry takes at most {CONTENT_CHARACTERS:,}.",
            hint="Shorten one of them first.",
        )
    is_approved = all(one.category == RULE and not one.unapproved for one in (first, *others))
    states = [State(first, changed_by(merged, author)), *(State(one, None) for one in others)]
    return entries.put(states, author, approves=is_approved)


def _check_known(entry: Entry) -> None:
    if entry.held:
        raise RefusedError(f"The entry {entry.id} came with the repository.", hint="Trust it first: `cm trust`.")


def _sources(entry: Entry, first: Entry) -> tuple[str, ...]:
    own = () if entry is first else (f"{ENTRIES}/{plain_id(entry.id)}",)
    return (*entry.made_from, *own)


def _together(texts: Iterable[str]) -> str:
    """Join texts; one that another contains is dropped."""
    each = list(dict.fromkeys(text.strip() for text in texts))
    return "\n\n".join(text for text in each if not any(text != other and text in other for other in each))
