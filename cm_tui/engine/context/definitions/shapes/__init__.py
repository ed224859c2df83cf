"""Definitions as typed records; a JSON Schema of each is copied to the project."""
