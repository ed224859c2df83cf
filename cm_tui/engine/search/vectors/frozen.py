"""Vectors of one moment, which a question may look at more than once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from cm_tui.engine.search.embed.provider import Matrix, Provider
from cm_tui.engine.search.vectors.lazy_graph import LazyGraph
from cm_tui.engine.search.vectors.live import Ids, Rows


@dataclass(frozen=True, slots=True)
class FrozenVectors:
    """Rows that stay unchanged while others are embedded."""

    rows: Rows
    graph: LazyGraph
    """Used where it covers the rows."""
    provider: Provider
    """The model that made them."""
    note: Callable[[str], None]
    """Called with messages for the user."""

    def search(self, vector: Matrix, k: int) -> tuple[Ids, Matrix]:
        """As `VectorIndex.search`."""
        rows = self.rows
        if len(rows) and len(vector) != rows.dimensions:
            self.note(
                f"The model now gives {len(vector)} dimensions, the stored vectors have {rows.dimensions}: "
                "they cannot be compared. Set embedding.dimensions, or run `cm rebuild`."
            )
        elif len(rows) and k > 0 and vector.any():
            return self._nearest(vector, k)
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)

    def vectors_for(self, ids: Ids | Sequence[int]) -> Matrix:
        """As `VectorIndex.vectors_for`."""
        rows = self.rows
        at = rows.positions(np.asarray(ids, dtype=np.int64))
        if not len(rows.ids):
            return np.zeros((len(at), self.provider.dimensions), dtype=np.float32)
        return np.where((at >= 0)[:, None], rows.matrix[at], np.float32(0))

    def _nearest(self, vector: Matrix, k: int) -> tuple[Ids, Matrix]:
        graph = self.graph.for_search(self.rows)
        found = graph.nearest(self.rows, vector, k) if graph else None
        return found or self.rows.nearest(vector, k)
