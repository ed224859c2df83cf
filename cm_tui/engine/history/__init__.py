"""The past: reading it from git, and answering from it."""
