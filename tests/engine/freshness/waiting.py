"""Waiting for conditions, never for time."""

from tests.waiting import PATIENCE, until

SECONDS = 60

__all__ = ["PATIENCE", "SECONDS", "until"]
