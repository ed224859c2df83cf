"""Vectors of passages: kept in step with the store, searched exactly or by a graph."""

from cm_tui.engine.vectors.by_source import ProjectVectors
from cm_tui.engine.vectors.index import VectorIndex

__all__ = ["ProjectVectors", "VectorIndex"]
