"""Episodes lie on the line of commits: the fixtures of history serve here as well, and so does a project of one file."""

from tests.engine.history.conftest import db, repo
from tests.engine.one_file import engine, indexed_engine, kept_file

__all__ = ["db", "engine", "indexed_engine", "kept_file", "repo"]
