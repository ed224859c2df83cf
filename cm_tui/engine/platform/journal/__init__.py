"""The journal: one event per line, changed afterwards only by an erasure."""
