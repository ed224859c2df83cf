"""Entries: what people and agents wrote down to be remembered, in a file of the user and one of each project."""
