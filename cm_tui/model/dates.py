"""Instants as people read them: commits in UTC, as git has them, and what this machine did by its own clock."""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta

from cm_tui.counts import count
from cm_tui.errors import UsageError

_MINUTE = 60
_AGES = ((31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3_600, "hour"), (_MINUTE, "minute"))
INSTANTS = "a day such as 2026-01-31, today, yesterday, or so long ago: 12h, 30d, 4w"
"""What `instant` understands, in words."""
_AGO = re.compile(r"-?([0-9]{1,5})([hdw])")
_UNITS = {"h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
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


def kind_and_age(kind: str, when: float | None) -> str:
    """Return what of the memory something is, and how old: `episode, 3 days ago`; undated, it is the kind alone."""
    return f"{kind}, {age(time.time() - when)}" if when is not None else kind


def instant(text: str, name: str, *, end: bool = False) -> float:
    """Return the instant that a person names, by this machine's clock.

    `text`: a day (`2026-01-31`, `today`, `yesterday`), or so long ago (`12h`, `30d`, `4w`); `name`: what it is given
    for, such as `--since`; `end`: the whole of a day is meant: its end, instead of its beginning. Raises UsageError if
    it is none of these.
    """
    said, today = text.strip().lower(), date(*time.localtime(time.time())[:3])
    days = timedelta(days=1 if end else 0)
    if found := _AGO.fullmatch(said):
        return time.time() - int(found[1]) * _UNITS[found[2]]
    try:
        named = {"today": today, "yesterday": today - timedelta(days=1)}.get(said)
        return _midnight((named or date.fromisoformat(said)) + days)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{name}: {text[:40]!r} is no day.", hint=f"Give {INSTANTS}.") from error


def _midnight(day: date) -> float:
    # Of this machine's clock, whose summer time mktime finds out.
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))


def _written(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return NO_DATE
