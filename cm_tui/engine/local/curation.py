"""Looking after entries, in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cm_tui.engine.local.entries import LocalEntries
from cm_tui.errors import RefusedError
from cm_tui.model import ENTRIES, Actor, Duplicates, Entry, MemoryChange, Page, Scope
from cm_tui.model.page import bounded

if TYPE_CHECKING:
    from cm_tui.engine.entries.duplicates import Vectors

_FIRST_PASSAGES = "SELECT path, id FROM passage WHERE source = ? AND start_line = 1"


class LocalCuration(LocalEntries):
    """What a person does with entries beside writing and changing them."""

    def approve_entry(self, shown: Entry) -> MemoryChange:
        """Approve a Rule exactly as it was shown."""
        from cm_tui.engine.entries.approval import approve

        event = approve(self._entries(), shown)
        self._sync_memory()
        entry = self._entries().named(shown.id, shown.scope)
        return MemoryChange(entry.id, "entry", f"approved the Rule {entry.id}", event, entry=entry)

    def move_entry(self, name: str, to: Scope, *, actor: Actor = "person") -> MemoryChange:
        """Move an entry to the other scope."""
        from cm_tui.engine.entries.curation import move
        from cm_tui.model.author import Author

        _only_a_person(actor, "moves an entry to another scope")
        entries = self._entries()
        change = move(entries, entries.named(name), to, Author(actor))
        self._sync_memory()
        entry = change.states[0].told
        words = f"moved the entry {entry.id} to the scope {to}"
        return MemoryChange(entry.id, "entry", words, change.event, entry=change.after)

    def merge_entries(self, names: Sequence[str], *, scope: str = "", actor: Actor = "person") -> MemoryChange:
        """Make one entry of several."""
        from cm_tui.engine.entries.curation import merge
        from cm_tui.model.author import Author

        _only_a_person(actor, "merges entries")
        entries = self._entries()
        found = [entries.named(name, scope) for name in names]
        change = merge(entries, found, Author(actor))
        self._sync_memory()
        first, *others = (state.told.id for state in change.states)
        words = f"merged {', '.join(others)} into the entry {first}"
        return MemoryChange(first, "entry", words, change.event, entry=change.after)

    def duplicate_entries(self, *, limit: int = 200) -> Page[Duplicates]:
        """Return pairs of entries that say nearly the same."""
        from cm_tui.engine.entries.duplicates import duplicates

        found = self._entries().all()
        pairs = duplicates(found.shown, self._vectors_of(found.shown))
        return Page(tuple(pairs[: bounded(limit)]), len(pairs), " ".join(found.notes))

    def promote_episode(
        self,
        name: str,
        *,
        content: str = "",
        category: str = "Experience",
        title: str = "",
        keywords: tuple[str, ...] = (),
        scope: Scope = "project",
        actor: Actor = "person",
    ) -> Entry:
        """Write down what an episode taught as an entry."""
        from cm_tui.engine.entries.promotion import promote
        from cm_tui.model.author import Author

        _only_a_person(actor, "makes an entry of an episode")
        entry, notes = promote(
            self._entries(), self.episode(name), Author(actor), content=content, category=category, title=title,
            keywords=keywords, scope=scope,
        )  # fmt: skip
        return replace(entry, notes=notes)

    def _vectors_of(self, entries: Sequence[Entry]) -> dict[int, Vectors]:
        """Return the vectors that the index has of entries, by their places; of a long one that of its beginning."""
        rows = {str(path): int(id_) for path, id_ in self._db.rows(_FIRST_PASSAGES, [ENTRIES])}
        if not rows or not self._vectors.has_model:
            return {}
        ids = {place: rows[path] for place, one in enumerate(entries) if (path := f"{ENTRIES}/{one.id}") in rows}
        index, _ = self._vectors.of(ENTRIES)
        index.refresh()
        matrix = index.vectors_for(list(ids.values()))
        return {place: row for place, row in zip(ids, matrix, strict=True) if row.any()}


def _only_a_person(actor: Actor, does: str) -> None:
    if actor != "person":
        raise RefusedError(f"Only a person {does}.", hint="Ask the person whose memory it is.")
