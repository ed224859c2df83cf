"""Entries: what people and agents write down to be remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.forgetting import ForgettingMethods, waits_as
from cm_tui.engine.api.needs import needs
from cm_tui.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.entries.entries import Entries
    from cm_tui.model import Actor, Entry, EntryEdit, MemoryChange, Outcome, Page, Proposal, Scope


class EntryMethods(ForgettingMethods):
    """Entries of the project and of its user, and what agents propose.

    What a person wrote, changed, let an agent change, pinned or trusted, or holds in all projects, is changed by a person
    alone: an agent's change of it becomes a proposal.
    """

    @needs("nothing", writes=("memory",))
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
        """Write something down, without what looks like a secret; what stands there already is not written twice.

        Args:
            text: what is to be remembered, at most 20,000 characters.
            category: Knowledge, Rule or Experience.
            title: what it is called; its first line when not given.
            keywords: words that it is found by; taken from the text when not given.
            scope: `project` writes into the project's `.cm/memory.json`, `user` into the user's own file.
            actor: who writes it.
            agent: name of the agent, where one writes.
            session: id of its session.

        Raises:
            UsageError: there is nothing to write down, too much, or no such category.
            RefusedError: the project's file leads elsewhere, or an agent writes for all projects.
            StoreError: it cannot be written.
        """
        from cm_tui.model.author import Author

        who = Author(actor, agent, session)
        self._check_recorded(actor, session)
        if actor != "person" and scope == "user":
            raise RefusedError(
                "What holds in all projects is written by a person.", hint="Propose it, or write it for this project."
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
        actor: Actor = "agent",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Propose an entry of the scope `user`, which holds in all projects: a person accepts or declines it.

        Args:
            text: what is to be remembered, at most 20,000 characters.
            category: Knowledge, Rule or Experience.
            title: what it is called; its first line when not given.
            keywords: words that it is found by; taken from the text when not given.
            actor: who proposes it.
            agent: name of the agent.
            session: id of its session.
            reason: why, for whoever decides.

        Raises:
            UsageError: there is nothing to write down, too much, no such category, or too many proposals wait.
            RefusedError: nothing is to be recorded now.
            StoreError: it cannot be written.
        """
        from cm_tui.model.author import Author

        who = Author(actor, agent, session)
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
    ) -> Page[Entry]:
        """Return entries, those that were written or changed last first.

        Args:
            match: only those that have these words in id, title, content, keywords, category or agent.
            category: only those of this one.
            scope: only `user` or `project`.
            held: also those that are in no answer: they came with the repository and nobody trusted them, or they are
                never recalled.
            forgotten: those that were forgotten, instead.
            limit: how many at most; the total counts all that match.

        Raises:
            UsageError: there is no such category or scope.
            StoreError: a file cannot be read.
        """
        from cm_tui.engine.entries import entry_undo
        from cm_tui.engine.entries.entries import Found
        from cm_tui.engine.entries.entry_list import page

        entries = self._entries()
        found = Found(entry_undo.forgotten(entries)) if forgotten else entries.all()
        return page(found, match, category, scope, held=held, limit=limit)

    @needs("nothing")
    def entry(self, name: str, *, scope: str = "") -> Entry:
        """Return an entry by its id, or a beginning that no other has; one that was forgotten says so.

        Args:
            name: its id, or a beginning of it.
            scope: only that of this one, where both scopes have one of that id.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several, or there is no such scope.
        """
        from cm_tui.engine.entries.entry_undo import forgotten_named

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
        edit: EntryEdit,
        *,
        scope: str = "",
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Change an entry, or propose that.

        Args:
            name: its id, or a beginning that no other has.
            edit: what is to change.
            scope: only of this one, where both scopes have an entry of that id.
            actor: who changes it.
            agent: name of the agent, where one does.
            session: id of its session.
            reason: why, for whoever decides on a proposal.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several, or nothing would change.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.entries.entry_record import says_the_same
        from cm_tui.engine.entries.entry_text import changed_by, edited
        from cm_tui.model.author import Author

        entries, who = self._entries(), Author(actor, agent, session)
        self._check_recorded(actor, session)
        entry = self._named(entries, name, scope, held=actor == "person")
        wanted = edited(entry, edit)
        if says_the_same(wanted, replace(entry, held=False)):
            return model.MemoryChange(entry.id, "entry", f"the entry {entry.id} says that already", entry=entry)
        if actor != "person" and (entries.is_protected(entry) or (edit.pinned, edit.never_recall) != (None, None)):
            made = self._proposals().add_change(entry, changed_by(wanted, who), who, reason)
            return waits_as(made)
        change = entries.change(entry, edit, who)
        return model.MemoryChange(entry.id, "entry", f"changed the entry {entry.id}", change.event, entry=change.after)

    @needs("nothing", writes=("memory",))
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
        """Record a task as an episode, without what looks like a secret; the same one is not recorded twice in a row.

        Args:
            prompt: what was asked.
            plan: how it was to be done.
            patch: what was changed, as a diff.
            verdict: what came of it.
            outcome: whether it worked.
            title: of its session.
            files: paths that it is about, below the project's root.
            tags: words to find it by.
            actor: who records it.
            agent: name of the agent, where one does.
            session: id of its session.

        Returns:
            The id of the episode.

        Raises:
            UsageError: nothing was asked.
            RefusedError: a path leads out of the project.
            StoreError: the journal cannot be written.
        """
        from cm_tui.engine.episodes import told_task
        from cm_tui.engine.memory.episode_record import EpisodeRecord

        self._check_recorded(actor, session)
        record = EpisodeRecord(
            agent=agent, session=session, prompts=(prompt,), files=tuple(map(self._inside, files)), patch=patch,
            actor=actor, title=title, plan=plan, verdict=verdict, outcome=outcome, tags=tags,
        )  # fmt: skip
        return told_task.record(self._root, self._episodes, record)

    @needs("nothing")
    def proposals(self) -> Page[Proposal]:
        """Return what agents propose, the oldest first.

        Raises:
            StoreError: it cannot be read.
        """
        waiting = self._proposals().all()
        return model.Page(waiting, len(waiting))

    @needs("nothing", writes=("memory",))
    def decide(self, name: str, *, accept: bool) -> MemoryChange:
        """Accept a proposal, which makes its change as a person's, or decline it.

        Args:
            name: its id, or that of what it would change.
            accept: make the change.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
            RefusedError: the entry was changed since the proposal was made.
            StoreError: it cannot be written.
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
        return model.MemoryChange(proposal.target, "entry", words, change.event, entry=change.after)

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
