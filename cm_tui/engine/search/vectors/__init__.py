"""Vectors of passages: in sync with the store, searched exactly or by a graph."""
