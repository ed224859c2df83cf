"""Definition files: retrieval definitions, rules, and pipelines, which are also run by hand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING

from cm_tui import model
from cm_tui.engine.api.layers import LayerMethods
from cm_tui.engine.api.needs import needs
from cm_tui.engine.platform.lazy import shared_property
from cm_tui.errors import RefusedError, StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from cm_tui.engine.context.ingestion.ingestion import Ingestion


class DefinitionMethods(LayerMethods):
    """Retrieval definitions, rules and pipelines of the project, and what pipelines wrote."""

    @needs("nothing", writes=("definitions",))
    def context_definitions(self) -> model.Definitions:
        """Return retrieval definitions, rules and pipelines of the project, with their problems.

        Copies the JSON Schemas to `.cm/schemas` if there are definitions and the schemas are of another version.
        """
        from cm_tui.engine.context.definitions.library import list_definitions

        self._copy_schemas()
        return list_definitions(self._library)

    @needs("nothing", writes=("definitions",))
    def new_definition(self, kind: model.DefinitionKind, name: str) -> str:
        """Write a commented definition for the user to change; return its path, relative to the root.

        `name`: of it and of its file: letters, digits, `-` and `_`. Raises UsageError if the name is invalid;
        RefusedError if the file exists; StoreError if it cannot be written.
        """
        from cm_tui.engine.context.definitions.writing import write_new

        path = write_new(self._root, kind, name)
        self._copy_schemas()
        return path

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
        from cm_tui.engine.context.ingestion.ingestion import Ingestion
        from cm_tui.engine.context.ingestion.inputs import Means

        means = Means(self._ask_model, self.config.context.processors)
        return Ingestion(self._root, means, self.episodes_of, self._why_not_recorded)

    def _copy_schemas(self) -> None:
        """Update the schemas next to definitions; skipped in a read-only project."""
        from cm_tui.engine.context.definitions.writing import copy_schemas_to

        try:
            copy_schemas_to(self._root)
        except (RefusedError, StoreError) as error:
            import logging

            logging.getLogger(__name__).info("%s", error.message)


def has_definitions(root: Path) -> bool:
    """Return whether a project has its own retrieval definitions or rules, valid or not."""
    from cm_tui.engine.context.definitions.definition_files import has_files

    if not has_files(root, "retrieval", "rule"):
        # Each prompt asks; the rest is slow to import.
        return False
    from cm_tui.engine.context.definitions.library import SHIPPED, load

    library = load(root)
    files = [*(one.file for one in library.retrieval), *(one.file for one in library.rules)]
    if any(not file.startswith(SHIPPED) for file in files):
        return True
    return any("/ingestion/" not in problem.file for problem in library.problems)
