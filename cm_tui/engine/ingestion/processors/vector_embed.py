"""`vector_embed`: makes items findable by meaning; their vectors are made by the index, as those of all passages."""

from __future__ import annotations

from cm_tui.engine.definitions.shapes.ingestion import VectorEmbed
from cm_tui.engine.ingestion.batch import Batch, Means


def run(step: VectorEmbed, batch: Batch, _: Means) -> None:
    """Have each item written to an index; the items stay as they are."""
    batch.writes += [(f"vector://{step.index}", item) for item in batch.items if str(item.get("text", "")).strip()]
