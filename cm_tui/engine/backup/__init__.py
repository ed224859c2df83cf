"""Backups: what cannot be made again of projects, in one compressed file for another machine or a container."""
