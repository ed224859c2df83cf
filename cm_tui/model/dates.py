"""Instants as people read them: commits in UTC, as git has them, and what this machine did by its own clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime

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


def _written(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return NO_DATE
