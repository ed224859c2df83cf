"""Entries: what people and agents write down to be remembered, its curation, and forgetting it and episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cm_tui import model
from cm_tui.engine.api.memory import MemoryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.memory.entries.curation import Proposals
    from cm_tui.engine.memory.entries.duplicates import Vectors

_FIRST_PASSAGES = "SELECT path, id FROM passage WHERE source = ? AND start_line = 1"


class EntryMethods(MemoryMethods):
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
            return model.MemoryChange(known.id, "entry", f"already saved as the {known.category} {known.id}")
        return _waits_as(self._proposals().add_writing(wanted, who, reason))

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
        return self._named(name, scope, held=True)[0]

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
        from cm_tui.engine.memory.entries.entry_record import changed_by, edited, has_same_content, words_of_edit

        entries, who = self._entries(), model.Author(actor, agent, session)
        self._check_recorded(actor, session)
        entry, is_forgotten = self._named(name, scope, held=actor == "person")
        if is_forgotten:
            hint = f"The user restores it: `cm forget --undo {entry.id}`."
            raise NotFoundError(f"The entry {entry.id} was forgotten.", hint=hint)
        wanted = edited(entry, edit)
        if has_same_content(wanted, replace(entry, held=False)):
            return model.MemoryChange(entry.id, "entry", f"already saved as the entry {entry.id}", entry=entry)
        if actor != "person" and (entries.is_protected(entry) or (edit.pinned, edit.never_recall) != (None, None)):
            made = self._proposals().add_change(entry, changed_by(wanted, who), who, reason)
            return _waits_as(made)
        change = entries.change(entry, edit, who)
        words = words_of_edit(edit, f"the entry {entry.id}")
        return model.MemoryChange(entry.id, "entry", words, change.event, entry=change.after)

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

    @needs("nothing", writes=("memory",))
    def forget_memory(
        self,
        name: str,
        *,
        undo: bool = False,
        scope: str = "",
        actor: model.Actor = "person",
        agent: str = "",
        session: str = "",
        reason: str = "",
        change: str = "",
    ) -> model.MemoryChange:
        """Forget an entry or an episode, or restore it; the journal keeps forgotten ones.

        Args:
            name: its id, or a unique prefix of it.
            undo: restore a forgotten one.
            scope: only an entry of this scope, where both have one with that id.
            actor: who forgets it; anyone but the user only proposes it for what the user wrote, chose or imported, what
                holds in all projects, and what an approved entry is based on.
            agent: name of the agent, if any.
            session: id of its session.
            reason: shown to the user who decides on a proposal.
            change: id of an earlier change of this kind: both are one change, and undone together.

        Raises:
            NotFoundError: no item has that name.
            UsageError: the name is ambiguous.
            StoreError: it cannot be written.
        """
        who, kind = model.Author(actor, agent, session), model.kind_and_id(name)[0]
        if undo:
            return self._restore(name, who, change)
        if kind == model.EPISODES:
            return self._forget_episode(name, who, reason, change)
        try:
            entry = self._entries().named(name, scope, held=actor == "person")
        except NotFoundError:
            return self._forget_episode(name, who, reason, change)
        return self._forget_entry(entry, who, reason, change)

    # --- curation ---

    @needs("nothing", writes=("memory",))
    def approve_entry(self, shown: model.Entry) -> model.MemoryChange:
        """Approve a Rule exactly as shown: agents receive it from then on.

        `shown`: the Rule as the user read it. Raises NotFoundError if it no longer exists; UsageError if it is not a
        Rule, or is approved already; RefusedError if it was changed since, or came with the repository and waits for
        trust; StoreError if it cannot be written.
        """
        from cm_tui.engine.memory.entries.curation import approve

        event = approve(self._entries(), shown)
        self._sync_memory()
        entry = self._entries().named(shown.id, shown.scope)
        return model.MemoryChange(entry.id, "entry", f"approved the Rule {entry.id}", event, entry=entry)

    @needs("nothing", writes=("memory",))
    def move_entry(self, name: str, to: model.Scope, *, actor: model.Actor = "person") -> model.MemoryChange:
        """Move an entry to the other scope; id and author stay.

        `name`: its id, or a unique prefix of it; `actor`: who moves it. Raises NotFoundError if no entry has that name;
        UsageError if the prefix is ambiguous, or the entry is already in that scope; RefusedError if the actor is not
        the user, the entry waits for trust, or the scope has an entry with that id; StoreError if it cannot be written.
        """
        from cm_tui.engine.memory.entries.curation import move

        _refuse_agents(actor, "moves an entry to another scope")
        entries = self._entries()
        try:
            found = entries.named(name, "project" if to == "user" else "user")
        except NotFoundError:
            found = entries.named(name)
        change = move(entries, found, to, model.Author(actor))
        self._sync_memory()
        entry = change.states[0].told
        words = f"moved the entry {entry.id} to the scope {to}"
        return model.MemoryChange(entry.id, "entry", words, change.event, entry=change.after)

    @needs("nothing", writes=("memory",))
    def merge_entries(
        self, names: Sequence[str], *, scope: str = "", actor: model.Actor = "person"
    ) -> model.MemoryChange:
        """Merge entries into the first one; its text takes in the others', which are forgotten.

        Args:
            names: ids, or unique prefixes; title, category and scope are those of the first.
            scope: only entries of this scope; empty: both.
            actor: who merges them.

        Raises:
            NotFoundError: a name matches no entry.
            UsageError: a name is ambiguous, there is only one entry, or together they are too long.
            RefusedError: the actor is not the user, or one of the entries waits for trust.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.memory.entries.curation import merge

        _refuse_agents(actor, "merges entries")
        entries = self._entries()
        found = [entries.named(name, scope) for name in names]
        change = merge(entries, found, model.Author(actor))
        self._sync_memory()
        first, *others = (state.told.id for state in change.states)
        words = f"merged {', '.join(others)} into the entry {first}"
        return model.MemoryChange(first, "entry", words, change.event, entry=change.after)

    @needs("nothing")
    def duplicate_entries(self, *, limit: int = 200) -> model.Page[model.Duplicates]:
        """Return pairs of similar entries, the most similar first.

        They are compared by words, and by vectors where the index has them. `limit`: how many at most. Raises
        StoreError if a file cannot be read.
        """
        from cm_tui.engine.memory.entries.duplicates import duplicates

        found = self._entries().all()
        pairs = duplicates(found.shown, self._vectors_of(found.shown))
        return model.Page(tuple(pairs[: model.bounded(limit)]), len(pairs), " ".join(found.notes))

    @needs("nothing", writes=("memory",))
    def promote_episode(
        self,
        name: str,
        *,
        content: str = "",
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        scope: model.Scope = "project",
        actor: model.Actor = "person",
    ) -> model.Entry:
        """Save what an episode taught as an entry, with a reference to episode, session and commit.

        Args:
            name: the episode's id, or a unique prefix of it; `last` is the newest.
            content: the text; empty: the episode's result. A Rule is approved only if the text is given.
            category: Knowledge, Rule or Experience.
            title: empty: the prompt.
            keywords: search words; by default taken from the text.
            scope: of the entry.
            actor: who promotes it.

        Raises:
            NotFoundError: no episode has that name.
            UsageError: the name is ambiguous, the episode has no result, or a value is invalid.
            RefusedError: the actor is not the user.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.memory.entries.curation import promote

        _refuse_agents(actor, "makes an entry of an episode")
        entry, notes = promote(
            self._entries(), self.episode(name), model.Author(actor), content=content, category=category, title=title,
            keywords=keywords, scope=scope,
        )  # fmt: skip
        return replace(entry, notes=notes)

    # --- parts ---

    def _accept(self, proposal: model.Proposal) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_record import changed_by
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

    def _named(self, name: str, scope: str, *, held: bool) -> tuple[model.Entry, bool]:
        """Return an entry by its id, and whether it was forgotten."""
        from cm_tui.engine.memory.entries.entry_undo import forgotten_named

        try:
            return self._entries().named(name, scope, held=held), False
        except NotFoundError:
            if (gone := forgotten_named(self._entries(), name)) is None:
                raise
            return gone, True

    def _proposals(self) -> Proposals:
        from cm_tui.engine.memory.entries.curation import Proposals

        return Proposals(self._entries())

    def _forget_entry(self, entry: model.Entry, who: model.Author, reason: str, whole: str) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_writing import State

        if who.actor != "person" and self._entries().is_protected(entry):
            return _waits_as(self._proposals().add_change(entry, None, who, reason))
        more: dict[str, Any] = {"change": whole} if whole else {}
        change = self._entries().put([State(entry, None)], who, reason=reason, **more)
        self._sync_memory()
        return model.MemoryChange(entry.id, "entry", f"forgot the entry {entry.id}", whole or change.event)

    def _forget_episode(self, name: str, who: model.Author, reason: str, change: str = "") -> model.MemoryChange:
        from cm_tui.engine.memory.episodes import edits

        try:
            id_ = self._episodes.named(name, hidden=False)
        except NotFoundError as error:
            if gone := self._forgotten_before(name):
                return gone
            raise NotFoundError(
                f"No entry or episode found: {name.strip()[:40]!r}.",
                hint=model.where_ids_are(name, "`cm remember` lists entries, `cm episodes` episodes."),
            ) from error
        try:
            wish = model.EpisodeEdit(forgotten=True)
            more = {"agent": who.agent, "reason": reason, "change": change}
            done = edits.edit_episodes(self._episodes, [id_], wish, who.actor, **more)
            self._read_soon()
        except RefusedError:
            episode = self.episode(id_)
            words = episode.title or next(iter(episode.prompts), "")
            return _waits_as(self._proposals().add_forgetting(id_, words, who, reason))
        return model.MemoryChange(id_, "episode", f"forgot the episode {id_}", done.change)

    def _forgotten_before(self, name: str) -> model.MemoryChange | None:
        """Return the words for something already forgotten; None: nothing of that name was."""
        from cm_tui.engine.memory.entries.entry_undo import forgotten_named

        entry = None if model.kind_and_id(name)[0] == model.EPISODES else forgotten_named(self._entries(), name)
        if entry is not None:
            return model.MemoryChange(entry.id, "entry", f"the entry {entry.id} is already forgotten")
        try:
            id_ = self._episodes.named(name, hidden=True)
        except NotFoundError:
            return None
        return model.MemoryChange(id_, "episode", f"the episode {id_} is already forgotten")

    def _restore(self, name: str, who: model.Author, change: str) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_undo import restore
        from cm_tui.engine.memory.episodes import edits

        if who.actor != "person":
            raise RefusedError("Only the user restores what was forgotten.", hint="Run `cm forget --undo ID`.")
        try:
            entry, event = restore(self._entries(), name, who, change)
        except NotFoundError:
            id_ = self._forgotten_episode(name)
            shown = model.EpisodeEdit(forgotten=False)
            done = edits.edit_episodes(self._episodes, [id_], shown, who.actor, change=change)
            self._read_soon()
            return model.MemoryChange(id_, "episode", f"restored the episode {id_}", done.change)
        self._sync_memory()
        return model.MemoryChange(entry.id, "entry", f"restored the entry {entry.id}", event, entry=entry)

    def _forgotten_episode(self, name: str) -> str:
        try:
            return self._episodes.named(name, hidden=True)
        except NotFoundError as error:
            raise NotFoundError(
                f"No forgotten entry or episode found: {name.strip()[:40]!r}.",
                hint="`cm remember --forgotten` and `cm episodes list --state forgotten` list what was forgotten.",
            ) from error

    def _sync_memory(self) -> str:
        """Let searches see it at once, or with the next request if an index run is under way; return a warning."""
        from cm_tui.engine.memory.projection.episode_sync import UNWRITTEN

        note = self._read_journal(0.0)
        return note if note.startswith(UNWRITTEN) else ""

    def _vectors_of(self, entries: Sequence[model.Entry]) -> dict[int, Vectors]:
        """Return the indexed vectors of entries by path; of a long entry, that of its beginning."""
        rows = {str(path): int(id_) for path, id_ in self._db.rows(_FIRST_PASSAGES, [model.ENTRIES])}
        if not rows or not self._vectors.has_model:
            return {}
        ids = {place: rows[path] for place, one in enumerate(entries) if (path := f"{model.ENTRIES}/{one.id}") in rows}
        index, _ = self._vectors.of(model.ENTRIES)
        index.refresh()
        matrix = index.vectors_for(list(ids.values()))
        return {place: row for place, row in zip(ids, matrix, strict=True) if row.any()}


def _waits_as(made: model.Proposal) -> model.MemoryChange:
    """Return the words for a proposed change that only the user may make."""
    doing = {"write": "writing for all projects", "change": "changing", "forget": "forgetting"}[made.kind]
    words = f"only the user can do that: {doing} the {made.of} {made.target} waits for the user to decide, as proposal {made.id}"
    return model.MemoryChange(made.target, made.of, words, proposal=made.id)


def _refuse_agents(actor: model.Actor, does: str) -> None:
    if actor != "person":
        raise RefusedError(f"Only the user {does}.", hint="Ask the user to do it.")
