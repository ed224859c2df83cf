"""The memory: what agents' sessions recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from cm_tui.engine.api.needs import needs
from cm_tui.model import Cancel, Episode, ErasureReport, ImportPlan, Page, Progress, SecretsReport


class MemoryApi(Protocol):
    """Episodes of agents' sessions, by every checkout of the project."""

    @needs("head")
    def episodes(self, *, match: str = "", before: str | None = None, limit: int = 200) -> Page[Episode]:
        """Return what agents' sessions recorded, newest first, without patches.

        Args:
            match: only those that have these words in prompts, answer, agent, session, paths, day, sha or `#17`.
            before: the id of the last one of a page asks for the next page.
            limit: how many at most; the total counts all that match, whatever `before` is.
        """

    @needs("head")
    def episode(self, name: str) -> Episode:
        """Return one of them whole, with its patch and the revision that it can be replayed at.

        Args:
            name: its id, or a beginning that no other has; `last` is the newest.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
        """

    @needs("nothing")
    def episode_moments(self) -> tuple[int, ...]:
        """Return the ordinals of the mainline's commits that agents saw, in order."""

    @needs("nothing")
    def secrets(self) -> SecretsReport:
        """Return what looks like a secret, by today's patterns, in journal, index, logs and remembered choices.

        Raises:
            StoreError: one of them cannot be read.
        """

    @needs("nothing")
    def erase(
        self, names: Sequence[str] = (), *, found: bool = False, with_patches: bool = False, dry_run: bool = False
    ) -> ErasureReport:
        """Erase events of the journal and all that was made from them, for good.

        An event takes its turn along: its session's prompts, edits, stop and episode say the same.

        Args:
            names: ids of events or episodes, or beginnings that no other has, or SEGMENT:OFFSET as a scan tells them.
            found: also everything that `secrets` finds.
            with_patches: also the turns of other episodes that hold lines of one that goes.
            dry_run: only say what would go.

        Raises:
            NotFoundError: the journal has no event of that name.
            UsageError: it has several, or nothing is named.
            StoreBusyError: the index stays in use.
            StoreError: something cannot be written.
        """

    @needs("nothing")
    def forget(self, name: str, *, undo: bool = False) -> str:
        """Hide an episode, or show it again; returns its id. The journal keeps it.

        Args:
            name: its id, or a beginning that no other has.
            undo: show one that was hidden.

        Raises:
            NotFoundError: there is none of that name.
            UsageError: there are several.
            StoreError: the journal cannot be written.
        """

    @needs("nothing")
    def imports(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> ImportPlan:
        """Return what `import_sessions` would read, without recording anything.

        Args:
            agents: only their transcripts; none: those of all agents.
            folders: where the project lay before, when nothing else tells.
            environment: where the agents keep their transcripts, by the names of their own variables; None: as this
                process has them.

        Raises:
            UsageError: there is no importer for an agent.
        """

    @needs("nothing")
    def import_sessions(
        self,
        *,
        agents: Sequence[str] = (),
        folders: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        cancel: Cancel | None = None,
    ) -> Iterator[Progress]:
        """Record what agents' own transcripts tell of this project as episodes: what is new since the last time.

        The last step has what was done as `imported`. Arguments are those of `imports`.

        Raises:
            UsageError: there is no importer for an agent.
            RefusedError: nothing is to be recorded of this project.
            StoreError: the journal cannot be written, or another import goes on.
        """
