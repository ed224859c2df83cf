"""Ingestion, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from cm_tui.engine.lazy import shared_property
from cm_tui.engine.local.layers import LocalLayers
from cm_tui.model import IngestOutcome, IngestRun, Page
from cm_tui.model.page import bounded

if TYPE_CHECKING:
    from cm_tui.engine.ingestion.ingestion import Ingestion


class LocalIngestion(LocalLayers):
    """What pipelines write into the memory."""

    def ingest(self, pipeline: str, text: str, *, values: Mapping[str, str] | None = None) -> IngestRun:
        """Run a pipeline over a text now."""
        from cm_tui.engine.definitions.library import load

        return self._ingestion.by_hand(load(self._root), pipeline, text, dict(values or {}))

    def ingest_pending(self) -> tuple[IngestRun, ...]:
        """Run the pipelines over what has happened since they ran last."""
        from cm_tui.engine.definitions.library import load

        return self._ingestion.pending(load(self._root))

    def ingest_runs(
        self, *, pipeline: str = "", outcome: IngestOutcome | None = None, limit: int = 100
    ) -> Page[IngestRun]:
        """Return runs, the newest first."""
        runs = [
            one.run
            for one in self._ingestion.ledger.all()
            if not one.is_open and pipeline in ("", one.run.pipeline) and outcome in (None, one.run.outcome)
        ]
        return Page(tuple(islice(runs, bounded(limit))), len(runs))

    def ingest_again(self, run: str) -> IngestRun:
        """Run what failed again from the step that failed."""
        from cm_tui.engine.definitions.library import load

        return self._ingestion.again(load(self._root), run)

    @shared_property
    def _ingestion(self) -> Ingestion:
        from cm_tui.engine.ingestion.batch import Means
        from cm_tui.engine.ingestion.ingestion import Ingestion
        from cm_tui.engine.recording.gate import why_not

        means = Means(self._ask_model, self.config.context.processors)
        return Ingestion(self._root, means, self.episodes_of, lambda session: why_not(self._root, session))
