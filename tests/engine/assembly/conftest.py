"""A small repository with an index."""

from tests.priced_shop import engine, priced, root

__all__ = ["engine", "priced", "root"]
