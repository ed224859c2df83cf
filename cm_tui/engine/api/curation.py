"""Curation of entries: approving Rules, moving and merging, promoting an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.entries import EntryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.memory.entries.duplicates import Vectors


_FIRST_PASSAGES = "SELECT path, id FROM passage WHERE source = ? AND start_line = 1"


class CurationMethods(EntryMethods):
    """The user's curation of entries; `undo` undoes each change."""

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
        change = move(entries, entries.named(name), to, model.Author(actor))
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


def _refuse_agents(actor: model.Actor, does: str) -> None:
    if actor != "person":
        raise RefusedError(f"Only the user {does}.", hint="Ask the user whose memory it is.")
