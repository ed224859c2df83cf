"""Episodes of a project: their tables, lists, edits as events, undo and retention."""
