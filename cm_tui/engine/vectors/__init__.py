"""Vectors of passages: kept in step with the store, searched exactly or by a graph."""
