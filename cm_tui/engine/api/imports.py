"""The imports: past sessions of agents, from their own transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import Cancel, ImportPlan, Progress


class ImportsApi(Protocol):
    """What agents' own transcripts tell of this project."""

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

    @needs("nothing", writes=("memory",))
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
