"""The user's decisions on entries: approve, promote, move, merge, and agents' proposals."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from cm_tui.engine.memory.entries.entries import Entries
from cm_tui.engine.memory.entries.entry_file import RULE, Ledger, writing
from cm_tui.engine.memory.entries.entry_record import (
    CONTENT_CHARACTERS,
    PROPOSAL_LETTER,
    Details,
    changed_by,
    checked_scope,
    digest,
    entry_data,
    first_line,
    has_same_content,
    new_id,
    split_keywords,
    storable,
)
from cm_tui.engine.memory.entries.entry_writing import APPROVED, Change, State
from cm_tui.engine.platform.journal.event import Event
from cm_tui.engine.platform.journal.journal import Journal
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.errors import RefusedError, UsageError
from cm_tui.model import ENTRIES, EPISODES, Entry, Episode, Proposal, Scope
from cm_tui.model.author import Author
from cm_tui.model.entry import REASON_CHARACTERS
from cm_tui.model.ids import ambiguous, id_named, plain_id

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


# --- agents' proposals for changes that only the user may make: the user accepts or declines ---

PROPOSED = "memory.proposed"
"""Kind of the event for an agent's proposal."""
DECIDED = "memory.decided"
"""Kind of the event for the decision on a proposal."""


class Proposals:
    """Proposals of agents in a project."""

    def __init__(self, entries: Entries) -> None:
        self._entries = entries

    def all(self) -> tuple[Proposal, ...]:
        """Return the waiting ones, the oldest first. Raises StoreError if they cannot be read."""
        return tuple(self._entries.ledger.read().proposals)

    def add_change(self, before: Entry, after: Entry | None, author: Author, reason: str) -> Proposal:
        """Propose to change an entry, or (without `after`) to forget it.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        kind, plain = "change" if after else "forget", replace(before, held=False)
        return self._add(author, reason, before.title, kind=kind, target=before.id, before=plain, after=after)

    def add_writing(self, new: Entry, author: Author, reason: str) -> Proposal:
        """Propose to write down an entry, which gets its id here.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        taken = {one.id for one in self._entries.all().entries}
        after = replace(new, id=new_id(taken))
        return self._add(author, reason, after.title, kind="write", target=after.id, after=after)

    def written_already(self, new: Entry) -> Entry | None:
        """Return the entry with the same text in the same scope.

        Raises StoreError if the entries cannot be read.
        """
        said = (new.scope, new.category, new.title, new.content)
        shown = self._entries.all().shown
        return next((one for one in shown if (one.scope, one.category, one.title, one.content) == said), None)

    def add_forgetting(self, episode: str, words: str, author: Author, reason: str) -> Proposal:
        """Propose to forget an episode.

        Raises UsageError: too many wait already; StoreError if it cannot be written.
        """
        return self._add(author, reason, words, kind="forget", of="episode", target=episode)

    def named(self, name: str) -> Proposal:
        """Return a proposal by its id, a prefix of it, or the id of the entry that it would change.

        Raises NotFoundError if no proposal has that name; UsageError if the name is ambiguous.
        """
        waiting = self.all()
        known = dict.fromkeys(id_ for one in waiting for id_ in (one.id, one.target))
        wanted = id_named(name.lower(), known, "proposal", "`cm forget --proposed` lists them.")
        found = [one for one in waiting if wanted in (one.id, one.target)]
        if len(found) > 1:
            raise ambiguous(name, "proposal", (one.id for one in found))
        return found[0]

    def check(self, proposal: Proposal) -> None:
        """Check that a proposal's entry is unchanged since.

        Raises RefusedError if it was changed; the message has both texts.
        """
        if proposal.of != "entry":
            return
        now = self._entries.all().entries
        current = next((one for one in now if one.id == proposal.target), None)
        if not has_same_content(None if current is None else replace(current, held=False), proposal.before):
            was = _shown(proposal.before)
            raise RefusedError(
                f"The entry {proposal.target} has changed since {proposal.agent or 'an agent'} proposed this. "
                f"Before: {was}. Now: {_shown(current)}.",
                hint=f"Change it yourself, or decline the proposal: `cm forget --decline {proposal.id}`.",
            )

    def close(self, proposal: Proposal, *, accepted: bool) -> None:
        """Remove a proposal, as the user decided. Raises StoreError if it cannot be written."""
        with writing():
            ledger = self._entries.ledger.read()
            ledger.proposals = [one for one in ledger.proposals if one.id != proposal.id]
            self._entries.ledger.write(ledger)
        said = {"proposal": proposal.id, "target": proposal.target, "accepted": accepted, "actor": "person"}
        Journal.of(self._entries.root).append(DECIDED, said)

    def _add(self, author: Author, reason: str, words: str, **said: Any) -> Proposal:
        with writing():
            ledger: Ledger = self._entries.ledger.read()
            wanted = Proposal(
                id=new_id((one.id for one in ledger.proposals), PROPOSAL_LETTER),
                words=first_line(redact(storable(words)).text),
                reason=redact(storable(reason)).text[:REASON_CHARACTERS],
                agent=author.agent,
                session=author.session,
                time=time.time(),
                **{"of": "entry", **said},
            )
            made = ledger.propose(wanted)
            if made is wanted:
                self._entries.ledger.write(ledger)
        if made is wanted:
            Journal.of(self._entries.root).append(PROPOSED, _event_data(made))
        return made


def _event_data(proposal: Proposal) -> dict[str, Any]:
    same = {name: getattr(proposal, name) for name in ("kind", "of", "target", "reason", "agent", "session")}
    return {"proposal": proposal.id, **same, "after": proposal.after and entry_data(proposal.after), "actor": "agent"}


def _shown(entry: Entry | None) -> str:
    return "removed" if entry is None else f"“{first_line(entry.content, 200)}”"
