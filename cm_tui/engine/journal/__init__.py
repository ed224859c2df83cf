"""The journal: what happened, one event a line, never changed afterwards but by an erasure."""
