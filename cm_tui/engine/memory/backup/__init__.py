"""Backups: irreplaceable data of projects, in one compressed file for another machine or a container."""
