"""The filter as a line of text: `why reverted type:task tool:Bash since:7d`, both ways between it and an `EpisodeFilter`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, get_args

from cm_tui.errors import UsageError
from cm_tui.model import EpisodeFilter
from cm_tui.model.episode import EpisodeState, EpisodeType

NOBODY = "unsaid"
"""The outcome of which nobody said anything."""
_OUTCOMES = ("ok", "failed", "interrupted", NOBODY)
_RATINGS = {"useful": 1, "misled": -1, "none": 0}
_YES = {"yes": True, "no": False}
_AGO = re.compile(r"([0-9]{1,4})([hdw])")
_HOURS = {"h": 1, "d": 24, "w": 168}
_HOUR = 3600.0
FIELDS = (
    "type", "tool", "outcome", "agent", "tag", "file", "session", "since", "until", "pinned", "rated", "state",
)  # fmt: skip
MANY = frozenset({"type", "tool", "outcome", "agent", "tag"})
"""Fields that take several values, of which an episode has to have one."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word that is looked for, or a value of a field."""

    value: str
    field: str = ""
    """Empty: a word."""

    def __str__(self) -> str:
        """Return it as it is typed."""
        plain = self.value.replace('"', "")
        apart = any(one.isspace() or (one == "," and self.field in MANY) for one in plain)
        quoted = f'"{plain}"' if apart or not plain else plain
        if self.field:
            return f"{self.field}:{quoted}"
        # A word that looks like a field would be read as one.
        return f'"{plain}"' if plain.partition(":")[0].lower() in FIELDS and ":" in plain else quoted


def terms_of(text: str) -> list[Term]:
    """Take a line apart: words and values of fields, of which those with blanks stand in double quotes."""
    found = []
    for piece in _pieces(text):
        field, colon, value = piece.partition(":")
        if colon and field.lower() in FIELDS:
            values = value.split(",") if field.lower() in MANY and '"' not in value else [value]
            found += [Term(one.replace('"', ""), field.lower()) for one in values]
        elif word := piece.replace('"', ""):
            found.append(Term(word))
    return found


def _pieces(text: str) -> list[str]:
    """Split at blanks that stand outside of quotes."""
    pieces, piece, quoted = [], "", False
    for one in text:
        quoted ^= one == '"'
        if one.isspace() and not quoted:
            pieces.append(piece)
            piece = ""
        else:
            piece += one
    return [one for one in (*pieces, piece) if one]


def text_of(terms: Iterable[Term]) -> str:
    """Return terms as a line."""
    return " ".join(map(str, terms))


def toggled(text: str, term: Term) -> str:
    """Return a line with a term added, or taken out where it stands there; a field of one value gets that one."""
    terms = terms_of(text)
    if term in terms:
        return text_of(one for one in terms if one != term)
    if term.field not in MANY:
        terms = [one for one in terms if one.field != term.field]
    return text_of((*terms, term))


def filter_of(text: str) -> EpisodeFilter:
    """Return what a line asks for.

    Raises:
        UsageError: a field has a value that it cannot have.
    """
    terms = terms_of(text)
    where = EpisodeFilter(
        text=" ".join(one.value for one in terms if not one.field),
        types=_known(terms, "type", get_args(EpisodeType)),
        tools=_values(terms, "tool"),
        outcomes=tuple("" if one == NOBODY else one for one in _known(terms, "outcome", _OUTCOMES)),
        agents=_values(terms, "agent"),
        tags=_values(terms, "tag"),
    )
    for term in terms:
        if term.field and term.field not in MANY and term.value:
            where = replace(where, **_SINGLE[term.field](term.value))
    return where


def _values(terms: Iterable[Term], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.value for one in terms if one.field == field and one.value))


def _known(terms: Iterable[Term], field: str, known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_of(field, value, known) for value in _values(terms, field))


def _one_of(field: str, value: str, known: Iterable[str]) -> str:
    if value.lower() not in known:
        raise UsageError(f"{field}: there is no {value[:40]!r}.", hint=f"One of {', '.join(known)}.")
    return value.lower()


def _since(value: str) -> float:
    return _instant("since", value, days=0)


def _until(value: str) -> float:
    # People mean the whole of the day that they name.
    return _instant("until", value, days=1)


def _instant(field: str, value: str, *, days: int) -> float:
    """Return an instant by this machine's clock: a day, or so long ago."""
    today = date(*time.localtime(time.time())[:3])
    if named := {"today": today, "yesterday": today - timedelta(days=1)}.get(value.lower()):
        return _midnight(named + timedelta(days=days))
    if ago := _AGO.fullmatch(value.lower()):
        return time.time() - int(ago[1]) * _HOURS[ago[2]] * _HOUR
    try:
        return _midnight(date.fromisoformat(value) + timedelta(days=days))
    except (ValueError, OverflowError, OSError) as error:
        words = "A day such as 2026-01-31, `today`, `yesterday`, or so long ago: 12h, 7d, 4w."
        raise UsageError(f"{field}: {value[:40]!r} is no day.", hint=words) from error


def _midnight(day: date) -> float:
    # Of this machine's clock, whose summer time mktime finds out.
    return time.mktime((day.year, day.month, day.day, 0, 0, 0, 0, 0, -1))


_SINGLE: dict[str, Callable[[str], dict[str, Any]]] = {
    "file": lambda value: {"file": value},
    "session": lambda value: {"session": value},
    "since": lambda value: {"since": _since(value)},
    "until": lambda value: {"until": _until(value)},
    "pinned": lambda value: {"pinned": _YES[_one_of("pinned", value, _YES)]},
    "rated": lambda value: {"rating": _RATINGS[_one_of("rated", value, _RATINGS)]},
    "state": lambda value: {"state": _one_of("state", value, get_args(EpisodeState))},
}
