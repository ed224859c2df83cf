"""The repository, read by library or from git's own files."""
