"""Days that dates mean: each function gives what one kind of date means on a certain day."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

DAY, WEEK, MONTH, YEAR, WEEKEND, QUARTER, HALF_YEAR, HOUR = range(8)
_LENGTHS = (1.0, 7.0, 30.4, 365.25, 7.0, 91.3, 182.6, 1 / 24)
"""Days of a unit."""
_SLACK = (1.5, 4.0, 10.0, 60.0, 3.0, 20.0, 30.0, 0.5)
"""Days that people are wrong by when they count in a unit."""
_YEARS_BACK, _WEEKS_BACK = 12, 6
_MOST_WEEKS = 53
_MOST_COUNT = 400


class Span(NamedTuple):
    """Ordinals of the first and the last day, and how many days beyond may be meant."""

    first: int
    last: int
    slack: float


Days = Callable[[date], Sequence[Span]]
"""The days that are meant on a day: the likeliest first."""


def _months(year: int, first: int, count: int, slack: float) -> Span:
    """Consecutive months; numbers beyond 1 to 12 are months of other years."""
    begin, end = (date(year + (at - 1) // 12, (at - 1) % 12 + 1, 1).toordinal() for at in (first, first + count))
    return Span(begin, end - 1, slack)


def month(number: int, day: int = 0) -> Callable[[int], Span]:
    """Return a month of a year, or a day of it."""

    def span(year: int) -> Span:
        whole = _months(year, number, 1, 5.0)
        at = min(whole.first + day - 1, whole.last)
        return Span(at, at, 1.0) if day else whole

    return span


def season(number: int) -> Callable[[int], Span]:
    """Return a season of a year, of the northern half of the earth; 0 is spring."""
    return lambda year: _months(year, 3 + 3 * number, 3, 14.0)


def quarter(number: int) -> Callable[[int], Span]:
    """Return a quarter of a year, 1 to 4."""
    return lambda year: _months(year, 3 * number - 2, 3, 7.0)


def third(days: Days | None, part: int) -> Days | None:
    """Return the first, second or last third of a date (`part` 0 to 2), more or less."""

    def parts(on: date) -> Sequence[Span]:
        found = []
        for one in days(on) if days else ():
            length = (one.last - one.first + 1) / 3
            found.append(Span(int(one.first + part * length), int(one.first + (part + 1) * length), 0.7 * length))
        return found

    return parts if days else None


def yearly(span: Callable[[int], Span], year: int = 0, years: int | None = None) -> Days:
    """Return what comes again every year: of a year, of one relative to now, or any, the last one that began first."""
    if year or years is not None:
        return lambda on: [span(year or on.year + (years or 0))]

    def days(on: date) -> Sequence[Span]:
        found = [span(on.year - back) for back in range(-1, _YEARS_BACK)]
        return sorted(found, key=lambda one: (one.first > on.toordinal(), abs(one.first - on.toordinal())))

    return days


def written(year: int, number: int = 0, day: int = 0) -> Days | None:
    """Return a year, a month (of any year if 0) or a day; None: there is no such date."""
    if not (year == 0 or 1900 <= year < 2200) or not 0 <= number <= 12 or day > 31:
        return None
    if not number:
        return yearly(lambda of: _months(of, 1, 12, 14.0), year) if year else None
    if day and year and day > calendar.monthrange(year, number)[1]:
        return None
    return yearly(month(number, day), year)


def turned(days: Days | None, way: int | None) -> Days | None:
    """Return the last of some days (-1) or the next (1): `last May`, `next May`."""
    if not way or days is None:
        return days
    if way < 0:
        return lambda on: [one for one in days(on) if one.last < on.toordinal()][:1]
    return lambda on: [one for one in days(on) if one.first > on.toordinal()][:1]


def weekday(number: int) -> Days:
    """Return the days that are a weekday, the last one first, then the next; 0 is Monday."""

    def days(on: date) -> Sequence[Span]:
        last = on.toordinal() - (on.weekday() - number) % 7
        return [Span(one, one, 1.0) for one in (*range(last, last - 7 * _WEEKS_BACK, -7), last + 7)]

    return days


def away(days: int, slack: float) -> Days:
    """Return the day so many days later."""
    return lambda on: [Span(on.toordinal() + days, on.toordinal() + days, slack)]


def ago(number: int, unit: int) -> Days:
    """Return the day so many units before, more or less."""
    number = max(-_MOST_COUNT, min(number, _MOST_COUNT))
    return away(-round(number * _LENGTHS[unit]), _SLACK[unit] * (1 + 0.1 * (abs(number) - 1)))


def lately(number: int, unit: int) -> Days:
    """Return the days of the last so many units."""
    length = round(min(number, _MOST_COUNT) * _LENGTHS[unit])
    return lambda on: [Span(on.toordinal() - length, on.toordinal(), _SLACK[unit])]


def unit_away(unit: int, way: int) -> Days | None:
    """Return the week, month, year or weekend before (-1), around (0) or after (1) a day."""
    if unit in (DAY, HALF_YEAR, HOUR):
        return None
    if unit == QUARTER:
        return lambda on: [_months(on.year, (on.month - 1) // 3 * 3 + 1 + 3 * way, 3, 7.0)]
    if unit == YEAR:
        return yearly(lambda of: _months(of, 1, 12, 14.0), years=way)
    if unit == MONTH:
        return lambda on: [_months(on.year, on.month + way, 1, 4.0)]

    def days(on: date) -> Sequence[Span]:
        monday = on.toordinal() - on.weekday() + 7 * way
        return [Span(monday + (5 if unit == WEEKEND else 0), monday + 6, 2.0)]

    return days


def last_weekend() -> Days:
    """Return the last weekend that has begun, then the next."""

    def days(on: date) -> Sequence[Span]:
        saturday = on.toordinal() - (on.weekday() - 5) % 7
        return [Span(one, one + 1, 1.5) for one in (saturday, saturday - 7, saturday + 7)]

    return days


def week_day(number: int, way: int) -> Days:
    """Return a weekday of the week before (-1), around (0) or after (1) a day."""

    def days(on: date) -> Sequence[Span]:
        day = on.toordinal() - on.weekday() + 7 * way + number
        return [Span(day, day, 1.0)]

    return days


def calendar_week(number: int, year: int = 0) -> Days | None:
    """Return a week by its number (ISO 8601), of any year if 0; None: no year has it."""
    if not 0 < number <= _MOST_WEEKS:
        return None

    def span(of: int) -> Span:
        monday = date(of, 1, 4).toordinal() - date(of, 1, 4).weekday() + 7 * (number - 1)
        return Span(monday, monday + 6, 2.0)

    return yearly(span, year)


def week_of(days: Days) -> Days:
    """Return the weeks around single days; longer dates are unchanged."""

    def weeks(on: date) -> Sequence[Span]:
        mondays = [(one.first - date.fromordinal(one.first).weekday(), one) for one in days(on)]
        return [Span(monday, monday + 6, 2.0) if one.first == one.last else one for monday, one in mondays]

    return weeks


def since(first: Days) -> Days:
    """Return the days from a date to the day of the text."""
    return lambda on: [one._replace(last=max(one.last, on.toordinal())) for one in first(on)]


def between(first: Days, second: Days) -> Days:
    """Return the days from the beginning of one date to the end of another; without a year, it is the last before the end."""

    def days(on: date) -> Sequence[Span]:
        ends, starts = second(on), first(on)
        found = [(max((one.first for one in starts if one.first <= end.last), default=None), end) for end in ends]
        return [Span(begin, end.last, end.slack) for begin, end in found if begin is not None] or ends

    return days


def beside(base: Days, number: int, unit: int, *, is_whole: bool) -> Days:
    """Return the day so many units from a date, before it if negative; or all days up to it."""
    length, slack = round(number * _LENGTHS[unit]), _SLACK[unit]

    def days(on: date) -> Sequence[Span]:
        if not is_whole:
            return [Span(one.first + length, one.last + length, slack) for one in base(on)]
        return [
            Span(one.first + length, one.first - 1, slack)
            if number < 0
            else Span(one.last + 1, one.last + length, slack)
            for one in base(on)
        ]

    return days


def nearest_weekday(number: int, base: Days, sign: int) -> Days:
    """Return the last such weekday before a date (-1), or the first after it (1)."""

    def day(one: Span) -> int:
        # Day 1 is a Monday.
        if sign < 0:
            return one.first - 1 - (one.first - 2 - number) % 7
        return one.last + 1 + (number - one.last) % 7

    return lambda on: [Span(day(one), day(one), 1.5) for one in base(on)]
