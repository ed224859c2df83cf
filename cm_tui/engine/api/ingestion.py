"""Ingestion: pipelines that write into the memory when something happens, said in files of the project."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from cm_tui.engine.api.needs import needs

if TYPE_CHECKING:
    from cm_tui.model import IngestOutcome, IngestRun, Page


class IngestionApi(Protocol):
    """What pipelines wrote, and running them by hand."""

    @needs("nothing", writes=("memory",))
    def ingest(self, pipeline: str, text: str, *, values: Mapping[str, str] | None = None) -> IngestRun:
        """Run a pipeline over a text now; what it had before is not written again.

        Args:
            pipeline: its name.
            text: the input.
            values: what its templates may name.

        Raises:
            NotFoundError: there is no such pipeline.
            UsageError: its file has an error.
            RefusedError: it waits for a person's trust.
        """

    @needs("nothing", writes=("memory",))
    def ingest_pending(self) -> tuple[IngestRun, ...]:
        """Run the pipelines over what has happened since they ran last; the daemon does so by itself."""

    @needs("nothing")
    def ingest_runs(
        self, *, pipeline: str = "", outcome: IngestOutcome | None = None, limit: int = 100
    ) -> Page[IngestRun]:
        """Return runs, the newest first.

        Args:
            pipeline: only those of this one.
            outcome: only those that ended so.
            limit: how many at most.
        """

    @needs("nothing", writes=("memory",))
    def ingest_again(self, run: str) -> IngestRun:
        """Run what failed again from the step that failed, with the input that was kept.

        Args:
            run: its id, or a beginning that no other has.

        Raises:
            NotFoundError: there is no such run.
            RefusedError: it did not fail, or its pipeline waits for trust.
        """
