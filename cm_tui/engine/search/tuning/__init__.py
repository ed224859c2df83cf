"""Tuning: marks of results as right or wrong."""
