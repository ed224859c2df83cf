"""Entries, in this process."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui.engine.local.memory import LocalMemory
from cm_tui.errors import NotFoundError, RefusedError
from cm_tui.model import Actor, Entry, EntryEdit, EpisodeEdit, MemoryChange, Outcome, Page, Proposal, Scope

if TYPE_CHECKING:
    from cm_tui.engine.entries import Author, Entries
    from cm_tui.engine.entries.proposals import Proposals


class LocalEntries(LocalMemory):
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
        from cm_tui.engine.entries import Author

        who = Author(actor, agent, session)
        self._check_recorded(actor, session)
        return self._entries().add(text, who, category=category, title=title, keywords=keywords, scope=scope)[0]

    def entries(
        self, *, match: str = "", category: str = "", scope: str = "", held: bool = True, limit: int = 200
    ) -> Page[Entry]:
        """Return entries, those that were written or changed last first."""
        from cm_tui.engine.entries.entry_list import page

        return page(self._entries().all(), match, category, scope, held=held, limit=limit)

    def entry(self, name: str) -> Entry:
        """Return an entry by its id."""
        return self._entries().named(name)

    def update_entry(
        self,
        name: str,
        edit: EntryEdit,
        *,
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Change an entry, or propose that."""
        from cm_tui.engine.entries import Author
        from cm_tui.engine.entries.entry_text import edited
        from cm_tui.engine.entries.proposals import is_protected

        entries, who = self._entries(), Author(actor, agent, session)
        entry = entries.named(name, held=actor == "person")
        if actor != "person" and (is_protected(entry) or edit.pinned is not None):
            made = self._proposals().add_change(entry, edited(entry, edit), who, reason)
            return _proposed(made)
        change = entries.change(entry, edit, who)
        return MemoryChange(entry.id, "entry", f"changed the entry {entry.id}", change.event, entry=change.after)

    def forget_memory(
        self,
        name: str,
        *,
        undo: bool = False,
        actor: Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
    ) -> MemoryChange:
        """Forget an entry or an episode, or bring it back."""
        from cm_tui.engine.entries import Author

        who = Author(actor, agent, session)
        if undo:
            return self._bring_back(name, who)
        try:
            entry = self._entries().named(name, held=actor == "person")
        except NotFoundError:
            return self._forget_episode(name, who, reason)
        return self._forget_entry(entry, who, reason)

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
        from cm_tui.engine.memory import told_task

        self._check_recorded(actor, session)
        from cm_tui.engine.memory.episode_record import EpisodeRecord

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
        from cm_tui.engine import recording

        if actor != "person" and (reason := recording.why_not(self._root, session)):
            raise RefusedError(f"Nothing was written down: {reason}.", hint="A person changes that: `cm resume`.")

    def _entries(self) -> Entries:
        from cm_tui.engine.entries import Entries

        return Entries(self._root)

    def _proposals(self) -> Proposals:
        from cm_tui.engine.entries.proposals import Proposals

        return Proposals(self._entries())

    def _accept(self, proposal: Proposal) -> MemoryChange:
        from cm_tui.engine.entries import Author

        who = Author()
        if proposal.of == "episode":
            return self._forget_episode(proposal.target, who, "")
        entries = self._entries()
        assert proposal.before is not None
        change = entries.put(proposal.before.scope, proposal.before, proposal.after, who, proposal=proposal.id)
        done = "changed" if proposal.after else "forgot"
        self._sync_memory()
        words = f"{done} the entry {proposal.target}, as {proposal.agent or 'an agent'} proposed"
        return MemoryChange(proposal.target, "entry", words, change.event, entry=change.after)

    def _forget_entry(self, entry: Entry, who: Author, reason: str) -> MemoryChange:
        from cm_tui.engine.entries.proposals import is_protected

        if who.actor != "person" and is_protected(entry):
            return _proposed(self._proposals().add_change(entry, None, who, reason))
        change = self._entries().put(entry.scope, replace(entry, held=False), None, who, reason=reason)
        self._sync_memory()
        return MemoryChange(entry.id, "entry", f"forgot the entry {entry.id}", change.event)

    def _forget_episode(self, name: str, who: Author, reason: str) -> MemoryChange:
        try:
            id_ = self._episodes.named(name, hidden=False)
        except NotFoundError as error:
            if self._is_forgotten(name):
                return MemoryChange(name.strip(), "entry", f"{name.strip()} was forgotten already")
            raise NotFoundError(
                f"There is no entry and no episode {name.strip()[:40]!r}.",
                hint="`cm remember` lists entries, `cm episodes` episodes.",
            ) from error
        try:
            done = self.edit_episodes([id_], EpisodeEdit(forgotten=True), actor=who.actor)
        except RefusedError:
            episode = self.episode(id_)
            words = episode.title or next(iter(episode.prompts), "")
            return _proposed(self._proposals().add_forgetting(id_, words, who, reason))
        return MemoryChange(id_, "episode", f"hid the episode {id_}", done.change)

    def _is_forgotten(self, name: str) -> bool:
        from cm_tui.engine.entries.entry_undo import forgotten

        return any(one.id == name.strip() for one in forgotten(self._entries()))

    def _bring_back(self, name: str, who: Author) -> MemoryChange:
        from cm_tui.engine.entries.entry_undo import restore

        if who.actor != "person":
            raise RefusedError("What was forgotten is brought back by a person.", hint="`cm forget --undo ID` does it.")
        try:
            entry, event = restore(self._entries(), name, who)
        except NotFoundError:
            id_ = self._episodes.named(name, hidden=True)
            done = self.edit_episodes([id_], EpisodeEdit(forgotten=False))
            return MemoryChange(id_, "episode", f"the episode {id_} is shown again", done.change)
        self._sync_memory()
        return MemoryChange(entry.id, "entry", f"brought the entry {entry.id} back", event, entry=entry)

    def _sync_memory(self) -> None:
        """Let searches see it at once; where an index run is under way the next question does."""
        from cm_tui.engine.memory import episode_sync

        episode_sync.sync_if_free(self._db, self._root, self._read_text)


def _proposed(made: Proposal) -> MemoryChange:
    doing = "forgetting" if made.kind == "forget" else "changing"
    words = f"a person's: {doing} the {made.of} {made.target} waits for a person to decide, as proposal {made.id}"
    return MemoryChange(made.target, made.of, words, proposal=made.id)
