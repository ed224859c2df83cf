"""`vector_embed`: adds items to an index for semantic search; the index embeds them as all passages."""

from __future__ import annotations

from cm_tui.engine.context.definitions.shapes.ingestion import VectorEmbed
from cm_tui.engine.context.ingestion.batch import Batch, Means


def run(step: VectorEmbed, batch: Batch, _: Means) -> None:
    """Write each item to an index; the items are unchanged."""
    batch.writes += [(f"vector://{step.index}", item) for item in batch.items if str(item.get("text", "")).strip()]
