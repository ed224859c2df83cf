"""The narrator, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cm_tui.engine.lazy import shared_property
from cm_tui.engine.local.notes import LocalNotes
from cm_tui.errors import ModelError
from cm_tui.model import (
    Cancel,
    ModelCost,
    NarratedChange,
    NarratedDecision,
    NarratedFilter,
    NarratedProposal,
    Page,
    Progress,
    TopicAction,
    TopicMap,
)

if TYPE_CHECKING:
    from cm_tui.engine.narrator.narrator import Narrator
    from cm_tui.engine.narrator.project_commands import ProjectCommands
    from cm_tui.engine.narrator.stale_facts import Code


class LocalNarrator(LocalNotes):
    """Proposals of what to write down."""

    @shared_property
    def _narrator(self) -> Narrator:
        from cm_tui.config import load_config
        from cm_tui.engine.narrator.narrator import Narrator
        from cm_tui.engine.narrator.parts import Parts

        parts = Parts(
            self._root, self._db, self._episodes, lambda: load_config(self._root), self._embed, self._sync_memory,
            self._code, self._project_commands.missing_in,
        )  # fmt: skip
        return Narrator(parts)

    def _embed(self, texts: Sequence[str]) -> Any:
        """Return unit vectors of texts by the model of prose, on this machine; None: there is none."""
        from cm_tui.engine.embed import choice

        prose = choice.prose_provider_for(self.config.embedding)
        try:
            return None if prose is None else choice.embed_many(prose, texts)
        except ModelError:
            # Words alone tell less of what is the same; the pass says so, and goes on.
            return None

    def _code(self) -> Code | None:
        """Return what tells what became of names of the code; None: there is no index yet."""
        from cm_tui.engine.mentions.check import Checker
        from cm_tui.engine.mentions.items import WrittenAt
        from cm_tui.engine.narrator.stale_facts import Code

        if not self._db.get_meta("indexed_at"):
            return None
        self._follow_mentions()
        return Code(
            self._stale_report, lambda: Checker(self._db, self._repository, self._read_text),
            lambda: WrittenAt(self._db, self._history.revisions), self._history.commits.at,
            self._project_commands.there,
        )  # fmt: skip

    @shared_property
    def _project_commands(self) -> ProjectCommands:
        from cm_tui.engine.narrator.project_commands import ProjectCommands

        return ProjectCommands(self._root)

    def narrate(
        self, *, since: float | None = None, dry_run: bool = False, cancel: Cancel | None = None
    ) -> Iterator[Progress]:
        """Read the episodes that are new and propose what they teach."""
        yield from self._narrator.narrate(since, cancel or Cancel(), dry_run=dry_run)

    def narrated(self, where: NarratedFilter | None = None, *, limit: int = 200) -> Page[NarratedProposal]:
        """Return proposals, the surest first."""
        return self._narrator.page(where or NarratedFilter(), limit)

    def narrated_proposal(self, name: str) -> NarratedProposal:
        """Return a proposal with its diff and its evidence."""
        return self._narrator.one(name)

    def decide_narrated(self, names: Sequence[str], decision: NarratedDecision) -> tuple[NarratedChange, ...]:
        """Approve, reject or defer proposals, as a person."""
        return self._narrator.decide(names, decision)

    def undo_narrated(self, name: str) -> NarratedChange:
        """Take back what was decided on a proposal."""
        return self._narrator.undo(name)

    def propose_fact(
        self,
        text: str,
        *,
        why: str = "",
        scope: str = "project",
        topic: str = "",
        episodes: tuple[str, ...] = (),
        agent: str = "",
        session: str = "",
    ) -> NarratedProposal:
        """Propose something as an agent does."""
        self._check_recorded("agent", session)
        return self._narrator.propose(text, why, scope, topic, episodes, agent, session)

    def narrator_cost(self) -> ModelCost:
        """Return what the next pass would take of the language model."""
        return self._narrator.cost()

    def topics(self, *, retired: bool = False) -> TopicMap:
        """Return the topics."""
        return self._narrator.topics(retired=retired)

    def change_topics(
        self, action: TopicAction, names: Sequence[str], *, title: str = "", tags: tuple[str, ...] = ()
    ) -> NarratedChange:
        """Create, merge, split, retire or restore topics."""
        change = self._narrator.change_topics(action, names, title, tags)
        self._sync_memory()
        return change
