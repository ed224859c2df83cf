"""Waiting for conditions, never for time."""

from collections.abc import Generator

from cm_tui.engine.code.index.index_run import IndexOutcome
from cm_tui.model import Progress
from tests.waiting import PATIENCE, until

SECONDS = 60

__all__ = ["PATIENCE", "SECONDS", "run_to_end", "until"]


def run_to_end(steps: Generator[Progress, None, IndexOutcome]) -> IndexOutcome:
    """Run an index to its end, and return its outcome."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: IndexOutcome = end.value
            return outcome
