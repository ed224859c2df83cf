"""The user's curation of entries: move one to the other scope, merge several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Unpack

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import writing
from cm_tui.engine.memory.entries.entry_record import (
    CONTENT_CHARACTERS,
    digest,
    first_line,
    has_same_content,
    split_keywords,
)
from cm_tui.engine.memory.entries.entry_text import Details, changed_by, checked_scope
from cm_tui.engine.memory.entries.entry_writing import APPROVED, Change, State
from cm_tui.engine.memory.entries.ledger import RULE
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import ENTRIES, EPISODES, Entry, Episode, Scope
from cm_tui.model.author import Author
from cm_tui.model.ids import plain_id

# --- approval of Rules: agents receive an agent's Rule only after the user approved it ---


def approve(entries: Entries, shown: Entry) -> str:
    """Record that the user approved a Rule as shown; return the id of the event.

    Raises UsageError if it is not a Rule, or is approved already; NotFoundError if it no longer exists; RefusedError if
    it was changed since, or came with the repository and waits for trust; StoreError if it cannot be written.
    """
    with writing():
        now = entries.named(shown.id, shown.scope)
        if now.category != RULE:
            raise UsageError(f"The entry {now.id} is not a Rule.", hint="Only Rules need approval.")
        if now.held:
            raise RefusedError(f"The entry {now.id} came with the repository.", hint="Decide on it with `cm trust`.")
        if not has_same_content(now, shown):
            raise RefusedError(
                f"The Rule {now.id} has changed since you read it.", hint="Read it again, then repeat the command."
            )
        if not now.unapproved:
            raise UsageError(f"The Rule {now.id} is already approved.")
        ledger = entries.ledgers[now.scope].read()
        ledger.note_approval(digest(now), is_approved=True)
        # The event comes first: no Rule is approved without one, by which it is undone.
        said = {"id": now.id, "scope": now.scope, "digest": digest(now), "actor": "person"}
        event = Journal.of(entries.root).append(APPROVED, said)
        entries.ledgers[now.scope].write(ledger)
    return event.id


def revoke(entries: Entries, event: Event, *, dry_run: bool) -> str:
    """Revoke an approval; return the id of the Rule.

    Raises UsageError if the event is not an approval; StoreError if it cannot be written.
    """
    said, id_, scope = map(event.text, ("digest", "id", "scope"))
    if not (said and id_ and scope):
        raise UsageError(f"The event {event.id} is not an approval.")
    of_scope = checked_scope(scope) or "project"
    with writing():
        ledger = entries.ledgers[of_scope].read()
        if said in ledger.approved and not dry_run:
            ledger.approved.remove(said)
            entries.ledgers[of_scope].write(ledger)
    return id_


# --- promoting an episode to an entry: its result, under its prompt ---


def promote(
    entries: Entries, episode: Episode, author: Author, *, content: str = "", **details: Unpack[Details]
) -> tuple[Entry, tuple[str, ...]]:
    """Save what an episode taught, with a reference to it, its session and commit.

    A Rule in the episode's own words is not approved by that: its author may be anyone.

    Args:
        entries: the project's.
        episode: with its full text.
        author: who promotes it.
        content: the text; empty: the episode's result.
        details: of the entry; without a title: the prompt.

    Returns:
        The entry, and messages for the user.

    Raises:
        UsageError: the episode has no result, or a value is invalid.
        StoreError: it cannot be written.
    """
    own_words = not content.strip()
    text = (episode.verdict or episode.answer or "\n\n".join(episode.prompts)).strip() if own_words else content
    if not text:
        raise UsageError(f"The episode {episode.id} has no text.", hint="Give the text with --content.")
    details["title"] = details.get("title") or episode.title or first_line("\n".join(episode.prompts))
    draft = entries.draft(text[:CONTENT_CHARACTERS], author, **details)
    new = replace(
        draft,
        actor=episode.actor if own_words else author.actor,
        agent=episode.agent,
        session=episode.session,
        commit=episode.sha or draft.commit,
        made_from=(f"{EPISODES}/{episode.id}",),
    )
    return entries.add_new(new, author, approves=not own_words)


# --- the user's curation of entries ---

_MOST_AT_ONCE = 20


def move(entries: Entries, entry: Entry, scope: Scope, author: Author) -> Change:
    """Move an entry to the other scope; id and author stay.

    Raises UsageError if it is in that scope already; RefusedError if it waits for trust, or the scope has an entry with
    that id; NotFoundError if it no longer exists; StoreError if it cannot be written.
    """
    if entry.scope == scope:
        raise UsageError(f"The entry {entry.id} is already in the scope {scope}.")
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
        raise UsageError("Merging needs two or more entries.", hint="Give their ids.")
    if len(others) >= _MOST_AT_ONCE:
        raise UsageError(f"At most {_MOST_AT_ONCE} entries can be merged at once; {len(others) + 1} were given.")
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
            f"The merged entry would have {len(merged.content):,} characters; an entry holds at most {CONTENT_CHARACTERS:,}.",
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
