"""Forgetting entries and episodes, and bringing them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.memory import MemoryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.errors import NotFoundError, RefusedError

if TYPE_CHECKING:
    from cm_tui.engine.memory.entries.proposals import Proposals


class ForgettingMethods(MemoryMethods):
    """Forgets entries and episodes; changes that only the user may make are proposed."""

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

        Raises:
            NotFoundError: no item has that name.
            UsageError: the name is ambiguous.
            StoreError: it cannot be written.
        """
        who, kind = model.Author(actor, agent, session), model.kind_and_id(name)[0]
        if undo:
            return self._restore(name, who)
        if kind == model.EPISODES:
            return self._forget_episode(name, who, reason)
        try:
            entry = self._entries().named(name, scope, held=actor == "person")
        except NotFoundError:
            return self._forget_episode(name, who, reason)
        return self._forget_entry(entry, who, reason)

    # --- parts ---

    def _proposals(self) -> Proposals:
        from cm_tui.engine.memory.entries.proposals import Proposals

        return Proposals(self._entries())

    def _forget_entry(self, entry: model.Entry, who: model.Author, reason: str) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_writing import State

        if who.actor != "person" and self._entries().is_protected(entry):
            return waits_as(self._proposals().add_change(entry, None, who, reason))
        change = self._entries().put([State(entry, None)], who, reason=reason)
        self._sync_memory()
        return model.MemoryChange(entry.id, "entry", f"forgot the entry {entry.id}", change.event)

    def _forget_episode(self, name: str, who: model.Author, reason: str) -> model.MemoryChange:
        from cm_tui.engine.memory.episodes import edits

        try:
            id_ = self._episodes.named(name, hidden=False)
        except NotFoundError as error:
            if gone := self._forgotten_before(name):
                return gone
            raise NotFoundError(
                f"There is no entry and no episode {name.strip()[:40]!r}.",
                hint=model.where_ids_are(name, "`cm remember` lists entries, `cm episodes` episodes."),
            ) from error
        try:
            wish = model.EpisodeEdit(forgotten=True)
            done = edits.edit_episodes(self._episodes, [id_], wish, who.actor, agent=who.agent, reason=reason)
            self._read_soon()
        except RefusedError:
            episode = self.episode(id_)
            words = episode.title or next(iter(episode.prompts), "")
            return waits_as(self._proposals().add_forgetting(id_, words, who, reason))
        return model.MemoryChange(id_, "episode", f"forgot the episode {id_}", done.change)

    def _forgotten_before(self, name: str) -> model.MemoryChange | None:
        """Return the words for something already forgotten; None: nothing of that name was."""
        from cm_tui.engine.memory.entries.entry_undo import forgotten_named

        entry = None if model.kind_and_id(name)[0] == model.EPISODES else forgotten_named(self._entries(), name)
        if entry is not None:
            return model.MemoryChange(entry.id, "entry", f"the entry {entry.id} was forgotten already")
        try:
            id_ = self._episodes.named(name, hidden=True)
        except NotFoundError:
            return None
        return model.MemoryChange(id_, "episode", f"the episode {id_} was forgotten already")

    def _restore(self, name: str, who: model.Author) -> model.MemoryChange:
        from cm_tui.engine.memory.entries.entry_undo import restore

        if who.actor != "person":
            raise RefusedError("Only the user restores what was forgotten.", hint="Run `cm forget --undo ID`.")
        try:
            entry, event = restore(self._entries(), name, who)
        except NotFoundError:
            id_ = self._forgotten_episode(name)
            done = self.edit_episodes([id_], model.EpisodeEdit(forgotten=False))
            return model.MemoryChange(id_, "episode", f"brought the episode {id_} back", done.change)
        self._sync_memory()
        return model.MemoryChange(entry.id, "entry", f"brought the entry {entry.id} back", event, entry=entry)

    def _forgotten_episode(self, name: str) -> str:
        try:
            return self._episodes.named(name, hidden=True)
        except NotFoundError as error:
            raise NotFoundError(
                f"No entry and no episode {name.strip()[:40]!r} was forgotten here.",
                hint="`cm remember --forgotten` and `cm episodes list --state forgotten` list what was forgotten.",
            ) from error

    def _sync_memory(self) -> str:
        """Let searches see it at once, or with the next request if an index run is under way; return a warning."""
        from cm_tui.engine.memory.projection.episode_sync import UNWRITTEN

        note = self._read_journal(0.0)
        return note if note.startswith(UNWRITTEN) else ""


def waits_as(made: model.Proposal) -> model.MemoryChange:
    """Return the words for a proposed change that only the user may make."""
    doing = {"write": "writing for all projects", "change": "changing", "forget": "forgetting"}[made.kind]
    words = f"only the user does that: {doing} the {made.of} {made.target} waits for the user to decide, as proposal {made.id}"
    return model.MemoryChange(made.target, made.of, words, proposal=made.id)
