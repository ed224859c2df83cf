"""Entries: what people and agents write down to be remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.forgetting import ForgettingMethods, waits_as
from cm_tui.engine.api.needs import needs
from cm_tui.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.memory.entries.entries import Entries


class EntryMethods(ForgettingMethods):
    """Entries of the project and of its user, and agents' proposals.

    An agent's change becomes a proposal if the entry holds in all projects, or if the user wrote, changed, pinned or
    trusted it, or approved an agent's change of it.
    """

    @needs("nothing", writes=("memory",))
    def remember(
        self,
        text: str,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        scope: model.Scope = "project",
        actor: model.Actor = "person",
        agent: str = "",
        session: str = "",
    ) -> model.Entry:
        """Save an entry with secrets redacted, unless the same one is already saved.

        Args:
            text: at most 20,000 characters.
            category: Knowledge, Rule or Experience.
            title: default: the first line.
            keywords: search words; by default taken from the text.
            scope: `project` writes into the project's `.cm/memory.json`, `user` into the user's own file.
            actor: who writes it.
            agent: name of the agent, if any.
            session: id of its session.

        Raises:
            UsageError: the text is empty or too long, or the category does not exist.
            RefusedError: the project's file leads elsewhere, or an agent writes for all projects.
            StoreError: it cannot be written.
        """
        who = model.Author(actor, agent, session)
        self._check_recorded(actor, session)
        if actor != "person" and scope == "user":
            raise RefusedError(
                "Only the user writes entries for all projects.", hint="Propose it, or write it for this project."
            )
        entry, notes = self._entries().add(text, who, category=category, title=title, keywords=keywords, scope=scope)
        return replace(entry, notes=notes)

    @needs("nothing", writes=("memory",))
    def propose_entry(
        self,
        text: str,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        actor: model.Actor = "agent",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> model.MemoryChange:
        """Propose an entry for the scope `user` (all projects); the user accepts or declines it.

        Args:
            text: at most 20,000 characters.
            category: Knowledge, Rule or Experience.
            title: default: the first line.
            keywords: search words; by default taken from the text.
            actor: who proposes it.
            agent: name of the agent.
            session: id of its session.
            reason: shown to the user who decides.

        Raises:
            UsageError: the text is empty or too long, the category does not exist, or too many proposals wait.
            RefusedError: recording is off.
            StoreError: it cannot be written.
        """
        who = model.Author(actor, agent, session)
        self._check_recorded(actor, session)
        wanted = self._entries().draft(text, who, category=category, title=title, keywords=keywords, scope="user")
        if (known := self._proposals().written_already(wanted)) is not None:
            return model.MemoryChange(known.id, "entry", f"the {known.category} {known.id} says that already")
        return waits_as(self._proposals().add_writing(wanted, who, reason))

    @needs("nothing")
    def entries(
        self,
        *,
        match: str = "",
        category: str = "",
        scope: str = "",
        held: bool = True,
        forgotten: bool = False,
        limit: int = 200,
    ) -> model.Page[model.Entry]:
        """Return entries, the most recently changed first.

        Args:
            match: only those with these words in id, title, content, keywords, category or agent.
            category: only this category.
            scope: only `user` or `project`.
            held: include entries that are never recalled, or came with the repository and are not trusted yet.
            forgotten: return forgotten entries instead.
            limit: the most to return; the total counts all matches.

        Raises:
            UsageError: there is no such category or scope.
            StoreError: a file cannot be read.
        """
        from cm_tui.engine.memory.entries import entry_undo
        from cm_tui.engine.memory.entries.entries import Found, page

        entries = self._entries()
        found = Found(entry_undo.forgotten(entries)) if forgotten else entries.all()
        return page(found, match, category, scope, held=held, limit=limit)

    @needs("nothing")
    def entry(self, name: str, *, scope: str = "") -> model.Entry:
        """Return an entry by its id or a unique prefix; a forgotten one is marked as such.

        `scope`: only this scope, where both have an entry with that id. Raises NotFoundError if no entry has that name;
        UsageError if the name is ambiguous, or the scope does not exist.
        """
        from cm_tui.engine.memory.entries.entry_undo import forgotten_named

        try:
            return self._entries().named(name, scope)
        except NotFoundError:
            if (gone := forgotten_named(self._entries(), name)) is None:
                raise
            return gone

    @needs("nothing", writes=("memory",))
    def update_entry(
        self,
        name: str,
        edit: model.EntryEdit,
        *,
        scope: str = "",
        actor: model.Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> model.MemoryChange:
        """Change an entry, or propose the change.

        Args:
            name: its id, or a unique prefix of it.
            edit: the change.
            scope: only this scope, where both have an entry with that id.
            actor: who changes it.
            agent: name of the agent, if any.
            session: id of its session.
            reason: shown to the user who decides on a proposal.

        Raises:
            NotFoundError: no entry has that name.
            UsageError: the name is ambiguous, or nothing would change.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.memory.entries.entry_record import has_same_content
        from cm_tui.engine.memory.entries.entry_text import changed_by, edited

        entries, who = self._entries(), model.Author(actor, agent, session)
        self._check_recorded(actor, session)
        entry = self._named(entries, name, scope, held=actor == "person")
        wanted = edited(entry, edit)
        if has_same_content(wanted, replace(entry, held=False)):
            return model.MemoryChange(entry.id, "entry", f"the entry {entry.id} says that already", entry=entry)
        if actor != "person" and (entries.is_protected(entry) or (edit.pinned, edit.never_recall) != (None, None)):
            made = self._proposals().add_change(entry, changed_by(wanted, who), who, reason)
            return waits_as(made)
        change = entries.change(entry, edit, who)
        return model.MemoryChange(entry.id, "entry", f"changed the entry {entry.id}", change.event, entry=change.after)

    @needs("nothing")
    def proposals(self) -> model.Page[model.Proposal]:
        """Return what agents propose, the oldest first. Raises StoreError if it cannot be read."""
        waiting = self._proposals().all()
        return model.Page(waiting, len(waiting))

    @needs("nothing", writes=("memory",))
    def decide(self, name: str, *, accept: bool) -> model.MemoryChange:
        """Accept a proposal, which applies its change as the user's, or decline it.

        `name`: its id, or that of the entry that it would change. Raises NotFoundError if no proposal has that name;
        UsageError if the name is ambiguous; RefusedError if the entry was changed since the proposal was made;
        StoreError if it cannot be written.
        """
        proposals = self._proposals()
        found = proposals.named(name)
        if not accept:
            proposals.close(found, accepted=False)
            return model.MemoryChange(found.target, found.of, f"declined {found.id}: nothing was changed")
        proposals.check(found)
        done = self._accept(found)
        proposals.close(found, accepted=True)
        return done

    # --- parts ---

    def _accept(self, proposal: model.Proposal) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_text import changed_by
        from cm_tui.engine.memory.entries.entry_writing import State

        who = model.Author()
        if proposal.of == "episode":
            return self._forget_episode(proposal.target, who, proposal.reason)
        entries = self._entries()
        after = proposal.after
        if after is not None and proposal.before is not None:
            after = changed_by(after, who)
        more = {"proposal": proposal.id, "reason": proposal.reason}
        change = entries.put([State(proposal.before, after)], who, approves=True, **more)
        done = {"write": "wrote", "change": "changed", "forget": "forgot"}[proposal.kind]
        self._sync_memory()
        words = f"{done} the entry {proposal.target}, as {proposal.agent or 'an agent'} proposed"
        return model.MemoryChange(proposal.target, "entry", words, change.event, entry=change.after)

    @staticmethod
    def _named(entries: Entries, name: str, scope: str, *, held: bool) -> model.Entry:
        """Return an entry by its id; the error for a forgotten one explains how to restore it."""
        from cm_tui.engine.memory.entries.entry_undo import forgotten_named

        try:
            return entries.named(name, scope, held=held)
        except NotFoundError:
            if (gone := forgotten_named(entries, name)) is None:
                raise
            hint = f"The user restores it: `cm forget --undo {gone.id}`."
            raise NotFoundError(f"The entry {gone.id} was forgotten.", hint=hint) from None
