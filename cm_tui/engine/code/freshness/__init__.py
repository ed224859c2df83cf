"""Freshness of the index: the watcher, the check before a request, and one scheduler."""
