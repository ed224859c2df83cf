"""Entries: what people and agents write down to be remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Actor, Entry, EntryEdit, MemoryChange, Outcome, Page, Proposal, Scope


class EntriesApi(Protocol):
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

    @needs("nothing", writes=("memory",))
    def forget_memory(
        self,
        name: str,
        *,
        undo: bool = False,
        scope: str = "",
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Forget an entry or an episode, or bring it back; what is forgotten stays in the journal.

        Args:
            name: its id, or a beginning that no other has.
            undo: bring one back that was forgotten.
            scope: only an entry of this one, where both scopes have one of that id.
            actor: who forgets it; anyone but a person only proposes it where a person wrote or chose it, of what holds in
                all projects, and of what was imported or something approved stands on.
            agent: name of the agent, where one does.
            session: id of its session.
            reason: why, for whoever decides on a proposal.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
            StoreError: it cannot be written.
        """

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

    @needs("nothing")
    def proposals(self) -> Page[Proposal]:
        """Return what agents propose, the oldest first.

        Raises:
            StoreError: it cannot be read.
        """

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
