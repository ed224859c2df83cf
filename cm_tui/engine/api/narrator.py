"""The narrator: lessons from sessions, proposed to the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cm_tui import model
from cm_tui.engine.api.entries import EntryMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    from cm_tui.engine.memory.narrator.narrator import Narrator
    from cm_tui.engine.memory.narrator.project_commands import ProjectCommands
    from cm_tui.engine.memory.narrator.stale_facts import Code


class NarratorMethods(EntryMethods):
    """Proposed memories: nothing is written before the user, or one of the user's policies, approves."""

    @shared_property
    def _narrator(self) -> Narrator:
        from cm_tui.config import load_config
        from cm_tui.engine.memory.narrator.narrator import Narrator
        from cm_tui.engine.memory.narrator.proposals import Parts

        parts = Parts(
            self._root, self._db, self._episodes, lambda: load_config(self._root), self._embed, self._sync_memory,
            self._code, self._project_commands.missing_in,
        )  # fmt: skip
        return Narrator(parts)

    def _embed(self, texts: Sequence[str]) -> Any:
        """Embed texts as unit vectors with the local model of prose; None: no such model."""
        from cm_tui.engine.search.embed import choice

        prose = choice.prose_provider_for(self.config.embedding)
        try:
            return None if prose is None else prose.embed_many(texts)
        except ModelError:
            # Words alone detect fewer duplicates; the pass reports that, and goes on.
            return None

    def _code(self) -> Code | None:
        """Return the lookup for names of the code; None: no index yet."""
        from cm_tui.engine.memory.mentions.check import Checker
        from cm_tui.engine.memory.mentions.mention_rows import WrittenAt
        from cm_tui.engine.memory.narrator.stale_facts import Code

        if not self._db.get_meta("indexed_at"):
            return None
        self._follow_mentions()
        return Code(
            self._stale_report, lambda: Checker(self._db, self._repository, self._read_text),
            lambda: WrittenAt(self._db, self._history.revisions), self._history.commits.at,
            self._project_commands.missing_in,
        )  # fmt: skip

    @shared_property
    def _project_commands(self) -> ProjectCommands:
        from cm_tui.engine.memory.narrator.project_commands import ProjectCommands

        return ProjectCommands(self._root)

    @needs("nothing", writes=("memory", "log"))
    def narrate(
        self, *, since: float | None = None, dry_run: bool = False, cancel: model.Cancel | None = None
    ) -> Iterator[model.Progress]:
        """Read new episodes and propose their lessons; the last step has the result as `narrated`.

        `since`: only proposals based on an episode since then: seconds since the epoch; None: all. `dry_run`: keep and
        approve nothing. `cancel`: ends it between two slices; finished work is kept. Raises StoreError if the journal
        cannot be read, or the store not be written.
        """
        yield from self._narrator.narrate(since, cancel or model.Cancel(), dry_run=dry_run)

    @needs("nothing")
    def narrated(
        self, where: model.NarratedFilter | None = None, *, limit: int = 200
    ) -> model.Page[model.NarratedProposal]:
        """Return proposals, the surest first; of decided ones, the last decision first.

        `where`: a filter; None: those that wait. `limit`: the most to return; the total counts all matches. Raises
        StoreError if they cannot be read.
        """
        return self._narrator.page(where or model.NarratedFilter(), limit)

    @needs("nothing")
    def narrated_proposal(self, name: str) -> model.NarratedProposal:
        """Return a proposal with its diff and its evidence.

        `name`: its id, or a unique prefix of it; `@` and a digest may follow. Raises NotFoundError if no proposal has
        that name; UsageError if the name is ambiguous.
        """
        return self._narrator.one(name)

    @needs("nothing", writes=("memory",))
    def decide_narrated(
        self, names: Sequence[str], decision: model.NarratedDecision
    ) -> tuple[model.NarratedChange, ...]:
        """Approve, reject or defer proposals as the user; each is decided separately.

        `names`: ids; one with `@` and a digest is decided only if it would still do what was shown. `decision`: what to
        do with them. Returns one result per name, in order; a failed one holds its reason and does not stop the others.
        Raises UsageError if no name is given, or a text is given for several.
        """
        return self._narrator.deciding.decide(names, decision)

    @needs("nothing", writes=("memory",))
    def undo_narrated(self, name: str) -> model.NarratedChange:
        """Undo the decision on a proposal at any later time: written text is removed, and it waits again.

        Raises NotFoundError if there is no such proposal; UsageError if it is undecided; StoreError if it cannot be
        written.
        """
        return self._narrator.deciding.undo(name)

    @needs("nothing", writes=("memory",))
    def redo(self, change: str) -> model.Edited:
        """Redo a change of the user that `undo` undid; it keeps every id and is a change of its own.

        Raises NotFoundError if it was not undone, or an entry has changed since; UsageError if it is made again where
        it was made, or a note has changed in the same lines since; RefusedError if it was a decision on a proposal that
        can no longer be made; StoreError if the journal cannot be written.
        """
        from cm_tui.engine.memory.episodes import undo

        done = self._narrator.deciding.redo(change) or undo.redo(self._episodes, self._root, change)
        self._read_soon()
        return done

    @needs("nothing", writes=("memory",))
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
    ) -> model.NarratedProposal:
        """Propose something as an agent; the user decides.

        Args:
            text: one line.
            why: in one sentence.
            scope: `project` or `user`.
            topic: name of its topic.
            episodes: ids of its evidence.
            agent: who proposes it.
            session: id of its session.

        Raises:
            UsageError: the text is empty or too long, or too many proposals of agents wait.
            NotFoundError: there is no such episode.
            RefusedError: recording is off.
            StoreError: it cannot be written.
        """
        self._check_recorded("agent", session)
        from cm_tui.engine.memory.narrator.agent_proposals import AgentProposal

        return self._narrator.propose(AgentProposal(text, why, scope, topic, episodes, agent, session))

    @needs("nothing")
    def narrator_cost(self) -> model.ModelCost:
        """Return the next pass's estimated use of the language model; sends nothing."""
        return self._narrator.cost()

    @needs("nothing")
    def topics(self, *, retired: bool = False) -> model.TopicMap:
        """Return the topics, the last changed first. `retired`: include retired ones."""
        from cm_tui.engine.memory.narrator.topics import map_of

        return map_of(self._root, retired)

    @needs("nothing", writes=("memory",))
    def change_topics(
        self, action: model.TopicAction, names: Sequence[str], *, title: str = "", tags: tuple[str, ...] = ()
    ) -> model.NarratedChange:
        """Create, merge, split, retire or restore topics; `undo` undoes it.

        Args:
            action: what to do.
            names: ids of topics; for a merge the first one remains; for a split one topic, then the headings of the
                sections that move to the new one.
            title: of the new topic.
            tags: of the new topic.

        Raises:
            NotFoundError: there is no such topic, or no such section.
            UsageError: too few or too many names, or a name is taken.
            RefusedError: the file may not be written.
            StoreError: it cannot be written.
        """
        from cm_tui.engine.memory.narrator.topic_changes import change

        done = change(self._root, action, names, title, tags)
        self._sync_memory()
        return done
