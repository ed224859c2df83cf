"""Recall counts of remembered items, and sessions' own caches: outside the index."""
