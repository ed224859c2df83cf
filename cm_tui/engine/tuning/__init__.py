"""Tuning: marks of results, and weights learned from questions with known answers."""
