"""Formats of agents' transcripts: each one's files, records and turns."""
