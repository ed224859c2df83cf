"""Dates in texts: absolute and relative ones, parts of months, seasons, weekdays and ranges, in many languages.

`date_words.toml` gives the kinds that a word may have in a date, `_PATTERNS` the sequences of kinds that are a date.
A text is read once; a `Mention` then gives the days that it means on a certain day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from cm_tui.engine.search.ranking import date_spans as spans
from cm_tui.engine.search.ranking.date_spans import HOUR, MONTH, QUARTER, WEEK, WEEKEND, YEAR, Days
from cm_tui.engine.search.ranking.date_words import Token, tokens_of

_MOST_CHARS = 6_000
_MOST_COUNT = 400
_EVENT_WORDS = 6
_ARTICLES = frozenset({"fill", "cue", "from", "since", "to"})
"""Kinds of a word that may be skipped inside a date."""
_ABLATIVE = ("dan", "den", "tan", "ten")
"""Turkish puts the event first: `sürümden iki hafta önce`."""
_JOINING = frozenset({"to", "until", "till", "bis", "до", "do", "jusqu", "tot", "-", "–", "—"})
"""Words that join the ends of a range without a `from`."""
_CLAUSE_END = re.compile(r"[,.;:?!\n]")


class Mention(NamedTuple):
    """A date in a text."""

    start: int
    end: int
    days: Days
    event: str = ""
    """What happened at the date that `days` counts from, such as a release."""


class _Match(NamedTuple):
    days: Days
    upto: int
    event: str = ""


def _days_of_month(month: int, first: int, last: int, year: int | None) -> Days | None:
    """The days from one to another of a month."""
    begin, end = (spans.written(year or 0, month, day) for day in (first, last))
    return spans.between(begin, end) if begin and end and first < last else None


_PATTERNS: tuple[tuple[str, Callable[..., Days | None]], ...] = (
    ("since_ago number number? unit", lambda _, one, more, unit: spans.ago(more or one, unit)),
    ("way number number? unit", lambda way, one, more, unit: spans.lately(more or one, unit) if way < 0 else None),
    ("number number? unit ago", lambda one, more, unit, _: spans.ago(more or one, unit)),
    ("since_ago single", lambda _, unit: spans.ago(1, unit)),
    ("single ago", lambda unit, _: spans.ago(1, unit)),
    ("past number number? unit", lambda _, one, more, unit: spans.lately(more or one, unit)),
    ("number way unit", lambda number, way, unit: spans.lately(number, unit) if way < 0 < number - 1 else None),
    ("date part_after", lambda value, part: spans.third(spans.written(value // 10_000, value // 100 % 100), part)),
    ("month part_after", lambda month, part: spans.third(spans.written(0, month), part)),
    ("weekday? date", lambda _, value: spans.written(value // 10_000, value // 100 % 100, value % 100)),
    ("part month year?", lambda part, month, year: spans.third(spans.written(year or 0, month), part)),
    ("day_number to? day_number month year?", lambda one, _, day, month, year: _days_of_month(month, one, day, year)),
    ("month day_number to day_number year?", lambda month, one, _, day, year: _days_of_month(month, one, day, year)),
    ("month number unit", lambda month, day, unit: spans.written(0, month, day) if unit == spans.DAY else None),
    ("weekday? day_number month year?", lambda _, day, month, year: spans.written(year or 0, month, day)),
    ("weekday? month day_number year?", lambda _, month, day, year: spans.written(year or 0, month, day)),
    ("month year", lambda month, year: spans.written(year, month)),
    ("month way unit", lambda month, way, unit: spans.yearly(spans.month(month), years=way) if unit == YEAR else None),
    ("way month", lambda way, month: spans.turned(spans.written(0, month), way)),
    ("month way?", lambda month, way: spans.turned(spans.written(0, month), way)),
    ("part year", lambda part, year: spans.third(spans.written(year), part)),
    ("part way unit", lambda part, way, unit: spans.third(spans.unit_away(unit, way), part)),
    ("part unit way", lambda part, unit, way: spans.third(spans.unit_away(unit, way), part)),
    ("quarter year?", lambda number, year: spans.yearly(spans.quarter(number), year or 0)),
    ("year quarter", lambda year, number: spans.yearly(spans.quarter(number), year)),
    ("ordinal unit year?", lambda n, unit, year: spans.yearly(spans.quarter(n), year or 0) if unit == QUARTER else None),
    ("calendar_week number year?", lambda _, number, year: spans.calendar_week(number, year or 0)),
    ("season year", lambda season, year: spans.yearly(spans.season(season), year)),
    ("season way unit", lambda season, way, unit: spans.yearly(spans.season(season), years=way) if unit == YEAR else None),
    ("way unit season", lambda way, unit, season: spans.yearly(spans.season(season), years=way) if unit == YEAR else None),
    ("way season", lambda way, season: spans.turned(spans.yearly(spans.season(season)), way)),
    ("season way?", lambda season, way: spans.turned(spans.yearly(spans.season(season)), way)),
    ("weekday_of_last_week", lambda number: spans.week_day(number, -1)),
    ("way unit weekday", lambda way, unit, number: spans.week_day(number, way) if unit == WEEK else None),
    ("weekday way unit", lambda number, way, unit: spans.week_day(number, way) if unit == WEEK else None),
    ("way weekday", lambda way, weekday: spans.turned(spans.weekday(weekday), way)),
    ("weekday way?", lambda weekday, way: spans.turned(spans.weekday(weekday), way)),
    ("day", lambda away: spans.away(away, 0.5)),
    ("way unit", lambda way, unit: spans.unit_away(unit, way)),
    ("unit way", spans.unit_away),
    ("fill unit", lambda _, unit: spans.last_weekend() if unit == WEEKEND else None),
    ("year", spans.written),
)  # fmt: skip
"""Sequences of kinds (`?` optional), with what reads their values; a reading of None is no date. The first match counts."""


@cache
def _starting(kinds: tuple[str, ...]) -> list[tuple[list[tuple[str, bool]], Callable[..., Days | None]]]:
    """The patterns that a token of these kinds may begin."""
    found = []
    for pattern, reading in _PATTERNS:
        parts = [(part.rstrip("?"), part.endswith("?")) for part in pattern.split()]
        first = next(place for place, (_, optional) in enumerate(parts) if not optional)
        if any(kind in kinds for kind, _ in parts[: first + 1]):
            found.append((parts, reading))
    return found


@lru_cache(maxsize=1 << 11)
def read(text: str) -> tuple[Mention, ...]:
    """Return the dates that a text names, in their order.

    Args:
        text: of a question or a turn; a very long one is read from its beginning.
    """
    text = text[:_MOST_CHARS]
    return tuple(_mentions(text, tokens_of(text)))


def _mentions(text: str, tokens: list[Token]) -> Iterator[Mention]:
    at = 0
    while at < len(tokens):
        found = _range(text, tokens, at) if tokens[at].means else None
        if found is not None:
            yield Mention(tokens[at].start, tokens[found.upto - 1].end, found.days, found.event)
        at = at + 1 if found is None else found.upto


def _value(tokens: list[Token], at: int, kind: str) -> int | None:
    return tokens[at].means.get(kind) if at < len(tokens) else None


def _skip(tokens: list[Token], at: int) -> int:
    """The next token that is no article or the like."""
    for _ in range(2):
        if at < len(tokens) and "fill" in tokens[at].means and tokens[at].means.keys() <= _ARTICLES:
            at += 1
    return at


def _range(text: str, tokens: list[Token], at: int) -> _Match | None:
    """A date, or two that a range lies between."""
    opens, is_since = (_value(tokens, at, kind) is not None for kind in ("from", "since"))
    first = _single(text, tokens, _skip(tokens, at + 1)) if opens or is_since else None
    # Italian `dal` means since and from.
    is_since = is_since and first is not None and not any("to" in one.means for one in tokens[at + 1 : first.upto])
    first = first or _single(text, tokens, at)
    if first is None or first.event:
        return first
    if first.upto < len(tokens):
        dash = text[tokens[first.upto - 1].end : tokens[first.upto].start].strip() in ("-", "–", "—")
        joined = (opens and _value(tokens, first.upto, "to") is not None) or tokens[first.upto].text in _JOINING
        second = (
            _single(text, tokens, first.upto if dash else _skip(tokens, first.upto + 1)) if dash or joined else None
        )
        if second is not None and not second.event:
            return _Match(spans.between(first.days, second.days), second.upto)
    return first._replace(days=spans.since(first.days)) if is_since else first


def _single(text: str, tokens: list[Token], at: int) -> _Match | None:
    if at >= len(tokens) or not tokens[at].means:
        return None
    found = _around(text, tokens, at) or _week_of(tokens, at) or _plain(tokens, at)
    if found and at and tokens[found.upto - 1].text == "önce" and tokens[at - 1].text.endswith(_ABLATIVE):
        return found._replace(event=tokens[at - 1].text[:-3])
    return found


def _plain(tokens: list[Token], at: int) -> _Match | None:
    """A date that is not counted from another one."""
    if at >= len(tokens):
        return None
    for parts, reading in _starting(tuple(tokens[at].means)):
        upto, values = at, list[int | None]()
        for kind, optional in parts:
            place = upto if upto == at else _skip(tokens, upto)
            value = _value(tokens, place, kind)
            if value is None and not optional:
                break
            upto = upto if value is None else place + 1
            values.append(value)
        else:
            days = reading(*values)
            if days is not None:
                return _Match(days, upto)
    return None


def _week_of(tokens: list[Token], at: int) -> _Match | None:
    """`The week of November 9`."""
    if (
        _value(tokens, at, "unit") != WEEK
        or at + 1 >= len(tokens)
        or not tokens[at + 1].means.keys() & {"fill", "from"}
    ):
        return None
    base = _plain(tokens, _skip(tokens, at + 2))
    return base and base._replace(days=spans.week_of(base.days))


def _around(text: str, tokens: list[Token], at: int) -> _Match | None:
    """`Two weeks before`, `the Sunday after` something: a date, or what happened at one."""
    number, weekday = _value(tokens, at, "number"), _value(tokens, at, "weekday")
    place = at if number is None else _skip(tokens, at + 1)
    if number is not None and (more := _value(tokens, place, "number")) is not None:
        number, place = more, _skip(tokens, place + 1)
    unit = _value(tokens, place, "unit")
    sign = -1 if _value(tokens, place + 1, "before") is not None else 1
    if (
        unit == HOUR
        or (unit is None and (weekday is None or place > at))
        or (sign > 0 and _value(tokens, place + 1, "after") is None)
    ):
        return None
    base = _plain(tokens, _skip(tokens, place + 2))
    if unit is None:
        return _Match(spans.nearest_weekday(weekday or 0, base.days, sign), base.upto) if base else None
    number = min(number or 1, _MOST_COUNT)
    if base is not None:
        # "The week before May 10" is all of its days, "two weeks before" is one day.
        is_whole = number == 1 and unit in (WEEK, MONTH, YEAR)
        return _Match(spans.beside(base.days, sign * number, unit, is_whole=is_whole), base.upto)
    upto = place + 2
    while upto < min(len(tokens), place + 2 + _EVENT_WORDS) and not (
        upto > place + 2 and _CLAUSE_END.search(text, tokens[upto - 1].end, tokens[upto].start)
    ):
        upto += 1
    event = text[tokens[place + 2].start : tokens[upto - 1].end] if upto > place + 2 else ""
    return _Match(spans.ago(-sign * number, unit), upto, event) if event else None
