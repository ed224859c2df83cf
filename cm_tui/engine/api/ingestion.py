"""Ingestion: pipelines that write into the memory on events, defined in files of the project."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.layers import LayerMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property

if TYPE_CHECKING:
    from cm_tui.engine.context.ingestion.ingestion import Ingestion
    from cm_tui.model import IngestOutcome, IngestRun, Page


class IngestionMethods(LayerMethods):
    """What pipelines wrote, and running them by hand."""

    @needs("nothing", writes=("memory",))
    def ingest(self, pipeline: str, text: str, *, values: Mapping[str, str] | None = None) -> IngestRun:
        """Run a pipeline over a text now; known input is not written again.

        `values`: values for its templates. Raises NotFoundError if there is no such pipeline; UsageError if its file
        has an error; RefusedError if it is not trusted yet.
        """
        from cm_tui.engine.context.definitions.library import load

        return self._ingestion.by_hand(load(self._root), pipeline, text, dict(values or {}))

    @needs("nothing", writes=("memory",))
    def ingest_pending(self) -> tuple[IngestRun, ...]:
        """Run the pipelines over the events since their last run; the daemon does so by itself."""
        from cm_tui.engine.context.definitions.library import load

        return self._ingestion.pending(load(self._root))

    @needs("nothing")
    def ingest_runs(
        self, *, pipeline: str = "", outcome: IngestOutcome | None = None, limit: int = 100
    ) -> Page[IngestRun]:
        """Return runs, the newest first.

        `pipeline`: only runs of this pipeline; `outcome`: only runs with this outcome; `limit`: the most to return.
        """
        from cm_tui.model.page import bounded

        runs = [
            one.run
            for one in self._ingestion.ledger.all()
            if not one.is_open and pipeline in ("", one.run.pipeline) and outcome in (None, one.run.outcome)
        ]
        return model.Page(tuple(islice(runs, bounded(limit))), len(runs))

    @needs("nothing", writes=("memory",))
    def ingest_again(self, run: str) -> IngestRun:
        """Repeat a failed run from the failed step, with the saved input.

        `run`: its id, or a unique prefix of it. Raises NotFoundError if there is no such run; RefusedError if it did
        not fail, or its pipeline waits for trust.
        """
        from cm_tui.engine.context.definitions.library import load

        return self._ingestion.again(load(self._root), run)

    @shared_property
    def _ingestion(self) -> Ingestion:
        from cm_tui.engine.context.ingestion.batch import Means
        from cm_tui.engine.context.ingestion.ingestion import Ingestion
        from cm_tui.engine.memory.recording.gate import why_not

        means = Means(self._ask_model, self.config.context.processors)
        return Ingestion(self._root, means, self.episodes_of, lambda session: why_not(self._root, session))
