"""Entries, in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui.engine.local.forgetting import LocalForgetting, waits_as
from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.model import Actor, Entry, EntryEdit, MemoryChange, Outcome, Page, Proposal, Scope

if TYPE_CHECKING:
    from cm_tui.engine.entries.entries import Entries


class LocalEntries(LocalForgetting):
    """What people and agents wrote down, and what agents propose."""

    def remember(
        self,
        text: str,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        scope: Scope = "project",
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
    ) -> Entry:
        """Write something down."""
        from cm_tui.model.author import Author

        who = Author(actor, agent, session)
        self._check_recorded(actor, session)
        if actor != "person" and scope == "user":
            raise RefusedError(
                "What holds in all projects is written by a person.", hint="Propose it, or write it for this project."
            )
        entry, notes = self._entries().add(text, who, category=category, title=title, keywords=keywords, scope=scope)
        return replace(entry, notes=notes)

    def propose_entry(
        self,
        text: str,
        *,
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        actor: Actor = "agent",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Propose an entry for all projects."""
        from cm_tui.model.author import Author

        who = Author(actor, agent, session)
        self._check_recorded(actor, session)
        wanted = self._entries().draft(text, who, category=category, title=title, keywords=keywords, scope="user")
        if (known := self._proposals().written_already(wanted)) is not None:
            return MemoryChange(known.id, "entry", f"the {known.category} {known.id} says that already")
        return waits_as(self._proposals().add_writing(wanted, who, reason))

    def entries(
        self,
        *,
        match: str = "",
        category: str = "",
        scope: str = "",
        held: bool = True,
        forgotten: bool = False,
        limit: int = 200,
    ) -> Page[Entry]:
        """Return entries, those that were written or changed last first."""
        from cm_tui.engine.entries import entry_undo
        from cm_tui.engine.entries.entries import Found
        from cm_tui.engine.entries.entry_list import page

        entries = self._entries()
        found = Found(entry_undo.forgotten(entries)) if forgotten else entries.all()
        return page(found, match, category, scope, held=held, limit=limit)

    def entry(self, name: str, *, scope: str = "") -> Entry:
        """Return an entry by its id."""
        from cm_tui.engine.entries.entry_undo import forgotten_named

        try:
            return self._entries().named(name, scope)
        except NotFoundError:
            if (gone := forgotten_named(self._entries(), name)) is None:
                raise
            return gone

    def update_entry(
        self,
        name: str,
        edit: EntryEdit,
        *,
        scope: str = "",
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Change an entry, or propose that."""
        from cm_tui.engine.entries.entry_record import says_the_same
        from cm_tui.engine.entries.entry_text import changed_by, edited
        from cm_tui.model.author import Author

        entries, who = self._entries(), Author(actor, agent, session)
        self._check_recorded(actor, session)
        entry = self._named(entries, name, scope, held=actor == "person")
        wanted = edited(entry, edit)
        if says_the_same(wanted, replace(entry, held=False)):
            return MemoryChange(entry.id, "entry", f"the entry {entry.id} says that already", entry=entry)
        if actor != "person" and (entries.is_protected(entry) or (edit.pinned, edit.never_recall) != (None, None)):
            made = self._proposals().add_change(entry, changed_by(wanted, who), who, reason)
            return waits_as(made)
        change = entries.change(entry, edit, who)
        return MemoryChange(entry.id, "entry", f"changed the entry {entry.id}", change.event, entry=change.after)

    def record_task(
        self,
        prompt: str,
        *,
        plan: str = "",
        patch: str = "",
        verdict: str = "",
        outcome: Outcome = "",
        title: str = "",
        files: tuple[str, ...] = (),
        tags: tuple[str, ...] = (),
        actor: Actor = "agent",
        agent: str = "",
        session: str = "",
    ) -> str:
        """Record a task as an episode."""
        from cm_tui.engine.episodes import told_task
        from cm_tui.engine.memory.episode_record import EpisodeRecord

        self._check_recorded(actor, session)
        record = EpisodeRecord(
            agent=agent, session=session, prompts=(prompt,), files=tuple(map(self._inside, files)), patch=patch,
            actor=actor, title=title, plan=plan, verdict=verdict, outcome=outcome, tags=tags,
        )  # fmt: skip
        return told_task.record(self._root, self._episodes, record)

    def proposals(self) -> Page[Proposal]:
        """Return what agents propose, the oldest first."""
        waiting = self._proposals().all()
        return Page(waiting, len(waiting))

    def decide(self, name: str, *, accept: bool) -> MemoryChange:
        """Accept a proposal, or decline it."""
        proposals = self._proposals()
        found = proposals.named(name)
        if not accept:
            proposals.close(found, accepted=False)
            return MemoryChange(found.target, found.of, f"declined {found.id}: nothing was changed")
        proposals.check(found)
        done = self._accept(found)
        proposals.close(found, accepted=True)
        return done

    # --- parts ---

    def _check_recorded(self, actor: Actor, session: str) -> None:
        """Refuse what somebody else than a person writes down while nothing is to be recorded."""
        from cm_tui.engine.recording.gate import why_not

        if actor != "person" and (reason := why_not(self._root, session)):
            raise RefusedError(f"Nothing was written down: {reason}.", hint="A person changes that: `cm resume`.")

    def _accept(self, proposal: Proposal) -> MemoryChange:
        from cm_tui.engine.entries.entry_events import State
        from cm_tui.engine.entries.entry_text import changed_by
        from cm_tui.model.author import Author

        who = Author()
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
        return MemoryChange(proposal.target, "entry", words, change.event, entry=change.after)

    @staticmethod
    def _named(entries: Entries, name: str, scope: str, *, held: bool) -> Entry:
        """Return an entry by its id; of one that was forgotten it is told how it comes back."""
        from cm_tui.engine.entries.entry_undo import forgotten_named

        try:
            return entries.named(name, scope, held=held)
        except NotFoundError:
            if (gone := forgotten_named(entries, name)) is None:
                raise
            hint = f"A person brings it back: `cm forget --undo {gone.id}`."
            raise NotFoundError(f"The entry {gone.id} was forgotten.", hint=hint) from None
