"""Episodes lie on the line of commits: the fixtures of history serve here as well."""

from tests.engine.history.conftest import db, repo

__all__ = ["db", "repo"]
