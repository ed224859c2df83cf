"""The list of the processors of pipelines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cm_tui.engine.context.ingestion.batch import Batch, Means
from cm_tui.engine.context.ingestion.processors import chunker, custom, llm_extract, normalizer, parser, vector_embed

RUN: Mapping[str, Any] = {
    "chunker": chunker.run,
    "normalizer": normalizer.run,
    "parser": parser.run,
    "vector_embed": vector_embed.run,
    "llm_extract": llm_extract.run,
    "custom": custom.run,
}
"""What each type of processor does with a batch. To add one: its shape, a file, and a line here."""


def run_processor(step: Any, batch: Batch, means: Means) -> None:
    """Run one processor.

    Raises:
        CmError: it cannot be done.
    """
    RUN[step.type](step, batch, means)
