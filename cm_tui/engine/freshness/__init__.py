"""Is the index current? The watcher, the check before a question, and one scheduler."""
