"""Instants as people read them: commits in UTC, as git has them, and what this machine did by its own clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from cm_tui.counts import count

_MINUTE = 60
_AGES = ((31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3_600, "hour"), (_MINUTE, "minute"))
NO_DATE = "no date"
"""Stands for a time outside the years 1 to 9999; git takes any number."""


def day(seconds: float) -> str:
    """Return an instant as `2024-05-01`, in UTC."""
    return _written(seconds, "%Y-%m-%d")


def minute(seconds: float) -> str:
    """Return an instant as `2024-05-01 12:30`, in UTC."""
    return _written(seconds, "%Y-%m-%d %H:%M")


def local_day(seconds: float) -> str:
    """Return an instant as `2024-05-01`, by this machine's clock."""
    return time.strftime("%Y-%m-%d", time.localtime(seconds))


def local_minute(seconds: float) -> str:
    """Return an instant as `2024-05-01 12:30`, by this machine's clock."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def local_hour_minute(seconds: float) -> str:
    """Return the time of day as `12:30`, by this machine's clock."""
    return time.strftime("%H:%M", time.localtime(seconds))


def local_clock(seconds: float) -> str:
    """Return the time of day as `12:30:59`, by this machine's clock."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def age(seconds: float) -> str:
    """Return how long ago something was, in words: `3 days ago`."""
    for length, name in _AGES:
        if seconds >= length:
            return f"{count(int(seconds // length), name)} ago"
    return "just now" if seconds > -_MINUTE else "in the future"


def _written(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return NO_DATE
