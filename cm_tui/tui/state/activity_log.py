"""What the application did since it was started, for the health mode."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import Literal

from cm_tui.model import IndexSummary
from cm_tui.tui.widgets.text import count, duration

State = Literal["", "ok", "warning", "error"]

_KEPT = 500


@dataclass(frozen=True)
class LogLine:
    """One thing that happened; `at` in seconds since the epoch."""

    at: float
    text: str
    state: State = ""


class ActivityLog:
    """The last few hundred things that happened, oldest first."""

    def __init__(self) -> None:
        self.lines: deque[LogLine] = deque(maxlen=_KEPT)

    def add(self, text: str, state: State = "") -> None:
        """Note something."""
        self.lines.append(LogLine(time.time(), text, state))

    def add_summary(self, summary: IndexSummary, *, who: str = "Index run") -> None:
        """Note what an index run did."""
        took = (
            duration(sum(summary.seconds.values()))
            if "total" not in summary.seconds
            else duration(summary.seconds["total"])
        )
        changed = f"{count(summary.changed, 'change')}, " if summary.changed else "nothing changed, "
        self.add(
            f"{who}: {changed}{count(summary.files, 'file')}, {summary.blobs:,} parsed, "
            f"{summary.embedded:,} embedded, {took}",
            "ok",
        )
        for note in summary.notes:
            self.add(note, "warning")
