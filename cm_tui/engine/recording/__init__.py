"""Whether anything may be recorded: pauses, sessions and folders that never are, and what a pause left behind."""
