"""Instants as people read them: commits in UTC, as git has them, and what this machine did by its own clock."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from cm_tui.counts import count
from cm_tui.errors import UsageError

_MINUTE = 60
_AGES = (
    (31_557_600, "year", "y"),
    (2_629_800, "month", "mo"),
    (86_400, "day", "d"),
    (3_600, "hour", "h"),
    (_MINUTE, "minute", "min"),
)
INSTANTS = "a day such as 2026-01-31, today, yesterday, or an age: 12h, 30d, 2 weeks ago, 6mo, 1y"
"""What `instant` understands, in words."""
_UNITS = {
    1: "s sec secs second seconds", 60: "min mins minute minutes", 3_600: "h hr hrs hour hours", 86_400: "d day days",
    604_800: "w wk wks week weeks", 2_629_800: "mo mon month months", 31_557_600: "y yr yrs year years",
}  # fmt: skip
_SECONDS = {word: seconds for seconds, words in _UNITS.items() for word in words.split()}
_PART = rf"([0-9]{{1,9}})\s*({'|'.join(sorted((*_SECONDS, 'm'), key=len, reverse=True))})\s*"
LENGTH = rf"-?(?:{_PART})+(?:ago)?"
"""Pattern of what `length` understands, in lower case."""
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


def local_moment(seconds: float, now: float) -> str:
    """Return an instant as `12:30` on the day of `now`, else as `2024-05-01 12:30`, by this machine's clock."""
    is_today = local_day(seconds) == local_day(now)
    return local_hour_minute(seconds) if is_today else local_minute(seconds)


def local_clock(seconds: float) -> str:
    """Return the time of day as `12:30:59`, by this machine's clock."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def age(seconds: float) -> str:
    """Return how long ago something was, in words: `3 days ago`."""
    for length, name, _ in _AGES:
        if seconds >= length:
            return f"{count(int(seconds // length), name)} ago"
    return "just now" if seconds > -_MINUTE else "in the future"


def short_age(seconds: float) -> str:
    """Return an age in at most five cells, for a column: `3d`, `12h`, `6mo`; `now` below a minute."""
    return next((f"{int(seconds // length)}{unit}" for length, _, unit in _AGES if seconds >= length), "now")


def kind_and_age(kind: str, when: float | None) -> str:
    """Return what of the memory something is, and how old: `episode, 3 days ago`; undated, it is the kind alone."""
    return f"{kind}, {age_of(kind, when)}" if when is not None else kind


def age_of(kind: str, when: float, now: float | None = None, in_words: Callable[[float], str] = age) -> str:
    """Return how old a memory is; the time of a note is a day: `today`."""
    now = time.time() if now is None else now
    return "today" if kind == "note" and local_day(when) == local_day(now) else in_words(now - when)


def length(text: str, m: str = "") -> float | None:
    """Return the seconds of a length of time such as `2w`, `1h30m` or `3 days ago`; None: it is none.

    `m`: the unit of a lone `m`, `min` or `mo`; empty: it is ambiguous.
    """
    said = text.strip().lower()
    units = _SECONDS | ({"m": _SECONDS[m]} if m else {})
    parts = re.findall(_PART, said) if re.fullmatch(LENGTH, said) else []
    sizes = [units.get(unit, 0) for _, unit in parts]
    if not all(sizes) or not parts or sizes != sorted(sizes, reverse=True):
        return None
    return float(sum(int(number) * size for (number, _), size in zip(parts, sizes, strict=True)))


def instant(text: str, name: str, *, end: bool = False, zone: tzinfo | None = None) -> float:
    """Return the instant that a person names.

    `text`: a day or time (`2026-01-31`, `2026-01-31 12:30`, `today`, `yesterday`), or an age (`12h`, `2 weeks ago`);
    `name`: what it is given for, such as `--since`; `end`: the end of a day is meant, not its beginning; `zone`: of
    written dates, None: this machine's. Raises UsageError if it is none of these.
    """
    said, today = text.strip().lower(), datetime(*time.localtime(time.time())[:3])  # noqa: DTZ001 - this machine's zone
    if (seconds := length(said)) is not None:
        return time.time() - seconds
    try:
        named = {"today": today, "yesterday": today - timedelta(days=1)}.get(said)
        moment = named or datetime.fromisoformat(text.strip())
        if named is None and moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        return (moment + timedelta(days=end and ":" not in said)).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(f"{name}: not a date: {text[:40]!r}.", hint=f"Use {INSTANTS}.") from error


def _written(seconds: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime(form)
    except (OverflowError, OSError, ValueError):
        return NO_DATE
