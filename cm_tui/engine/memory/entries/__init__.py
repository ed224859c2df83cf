"""Entries: short texts that users and agents save, in a file per user and per project."""
