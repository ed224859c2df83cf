"""Marks are set on a history: its fixtures serve here as well."""

from tests.engine.history.conftest import db, repo

__all__ = ["db", "repo"]
