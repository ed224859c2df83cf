"""A small repository with an index."""

from tests.priced_shop import engine, root

__all__ = ["engine", "root"]
