"""Vectors and ranking."""
