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


class IngestionMethods(LayerMethods):
    """What pipelines wrote, and running them by hand."""

    @needs("nothing", writes=("memory",))
    def ingest(self, pipeline: str, text: str, *, values: Mapping[str, str] | None = None) -> model.IngestRun:
        """Run a pipeline over a text now; known input is not written again.

        `values`: values for its templates. Raises NotFoundError if there is no such pipeline; UsageError if its file
        has an error; RefusedError if it is not trusted yet.
        """
        return self._ingestion.by_hand(self._library, pipeline, text, dict(values or {}))

    @needs("nothing", writes=("memory",))
    def ingest_pending(self) -> tuple[model.IngestRun, ...]:
        """Run the pipelines over the events since their last run; the daemon does so by itself."""
        return self._ingestion.pending(self._library)

    @needs("nothing")
    def ingest_runs(
        self, *, pipeline: str = "", outcome: model.IngestOutcome | None = None, limit: int = 100
    ) -> model.Page[model.IngestRun]:
        """Return runs, the newest first.

        `pipeline`: only runs of this pipeline; `outcome`: only runs with this outcome; `limit`: the most to return.
        """
        runs = [
            one.run
            for one in self._ingestion.ledger.all()
            if not one.is_open and pipeline in ("", one.run.pipeline) and outcome in (None, one.run.outcome)
        ]
        return model.Page(tuple(islice(runs, model.bounded(limit))), len(runs))

    @needs("nothing", writes=("memory",))
    def ingest_again(self, run: str) -> model.IngestRun:
        """Repeat a failed run from the failed step, with the saved input.

        `run`: its id, or a unique prefix of it. Raises NotFoundError if there is no such run; RefusedError if it did
        not fail, or its pipeline waits for trust.
        """
        return self._ingestion.again(self._library, run)

    @shared_property
    def _ingestion(self) -> Ingestion:
        from cm_tui.engine.context.ingestion.batch import Means
        from cm_tui.engine.context.ingestion.ingestion import Ingestion

        means = Means(self._ask_model, self.config.context.processors)
        return Ingestion(self._root, means, self.episodes_of, self._why_not_recorded)
