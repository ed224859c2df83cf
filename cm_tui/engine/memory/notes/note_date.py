"""The day of a note, from its name or folders."""

from __future__ import annotations

import datetime as dt
import re

_DAY = re.compile(r"(?<!\d)(\d{4})[-_.](\d{1,2})[-_.](\d{1,2})(?!\d)")
_RUN = re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)")
_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(\d{1,2})/(\d{1,2})(?=\D|$)")
_MONTH_FOLDER = re.compile(r"(?:^|/)(\d{4})(?:/|-)(\d{1,2})/(\d{1,2})(?=\D|$)")
_FIRST, _LAST = 1970, 2100


def day_of(text: str) -> dt.date | None:
    """Return the first day that a text names, as `2026-02-10` or `20260210`."""
    for shape in (_DAY, _RUN):
        for found in shape.finditer(text):
            if (day := _day(*found.groups())) is not None:
                return day
    return None


def day_of_path(path: str) -> dt.date | None:
    """Return the day in a path: in the name first, then in its folders, such as `2026/02/10.md` or `2026-02-10/a.md`."""
    name = path.rpartition("/")[2]
    if (day := day_of(name)) is not None:
        return day
    for shape in (_FOLDERS, _MONTH_FOLDER):
        if (found := shape.search(path)) and (day := _day(*found.groups())) is not None:
            return day
    return next((day for part in reversed(path.split("/")[:-1]) if (day := day_of(part)) is not None), None)


def is_plausible(day: dt.date) -> bool:
    """Return whether a note can be of a day."""
    return _FIRST <= day.year <= _LAST


def seconds_of(day: dt.date) -> float:
    """Return the start of a day as seconds since the epoch, in local time."""
    return dt.datetime(day.year, day.month, day.day).astimezone().timestamp()


def _day(year: str, month: str, day: str) -> dt.date | None:
    try:
        found = dt.date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if is_plausible(found) else None
