"""Times as they are shown: commits in UTC, as git has them; what this machine did by its own clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def day(seconds: float) -> str:
    """Return a commit's day in UTC; commits can have absurd dates."""
    return _utc(seconds, "%Y-%m-%d")


def minute(seconds: float) -> str:
    """Return a commit's day and time in UTC."""
    return _utc(seconds, "%Y-%m-%d %H:%M")


def local_minute(seconds: float) -> str:
    """Return hour and minute by the clock of this machine."""
    return time.strftime("%H:%M", time.localtime(seconds))


def local_second(seconds: float) -> str:
    """Return hour, minute and second by the clock of this machine."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def local_day_and_minute(seconds: float) -> str:
    """Return day, hour and minute by the clock of this machine."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _utc(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return "no date"
