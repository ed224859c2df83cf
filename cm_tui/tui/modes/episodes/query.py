"""The filter as a line of text: `why reverted type:task tool:Bash since:7d`, both ways between it and an `EpisodeFilter`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args

from cm_tui.errors import UsageError
from cm_tui.model import EpisodeFilter
from cm_tui.model.dates import instant
from cm_tui.model.episode import EpisodeState, EpisodeType
from cm_tui.tui.state.filter_line import pieces_of

UNSAID = "unsaid"
"""The filter value of an unknown outcome."""
_OUTCOMES = ("ok", "failed", "interrupted", "unanswered", UNSAID)
_RATINGS = {"useful": 1, "misled": -1, "none": 0}
_YES = {"yes": True, "no": False}
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
    for piece in pieces_of(text):
        field, colon, value = piece.partition(":")
        if colon and field.lower() in FIELDS:
            values = value.split(",") if field.lower() in MANY and '"' not in value else [value]
            found += [Term(one.replace('"', ""), field.lower()) for one in values]
        elif word := piece.replace('"', ""):
            found.append(Term(word))
    return found


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
        outcomes=tuple("" if one == UNSAID else one for one in _known(terms, "outcome", _OUTCOMES)),
        agents=_values(terms, "agent"),
        tags=_values(terms, "tag"),
    )
    for term in terms:
        if term.field and term.field not in MANY and term.value:
            where = replace(where, **_SINGLE[term.field](term.value))
    return where


def problems_of(text: str) -> list[str]:
    """Return what is wrong with the terms of a line, each on its own, and which fields have no value yet."""
    wrong = []
    for term in terms_of(text):
        if term.field and not term.value:
            wrong.append(f"{term.field}: its value is missing.")
            continue
        try:
            filter_of(str(term))
        except UsageError as error:
            wrong.append(f"{error.message} {error.hint}".strip())
    return wrong


def _values(terms: Iterable[Term], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.value for one in terms if one.field == field and one.value))


def _known(terms: Iterable[Term], field: str, known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_of(field, value, known) for value in _values(terms, field))


def _one_of(field: str, value: str, known: Iterable[str]) -> str:
    if value.lower() not in known:
        raise UsageError(f"{field}: there is no {value[:40]!r}.", hint=f"One of {', '.join(known)}.")
    return value.lower()


_SINGLE: dict[str, Callable[[str], dict[str, Any]]] = {
    "file": lambda value: {"file": value},
    "session": lambda value: {"session": value},
    "since": lambda value: {"since": instant(value, "since")},
    "until": lambda value: {"until": instant(value, "until", end=True)},
    "pinned": lambda value: {"pinned": _YES[_one_of("pinned", value, _YES)]},
    "rated": lambda value: {"rating": _RATINGS[_one_of("rated", value, _RATINGS)]},
    "state": lambda value: {"state": _one_of("state", value, get_args(EpisodeState))},
}


EVERY = ""
"""The key of all episodes; that of a session is its id."""
BY_HAND = "\0by hand"
"""The key of what was recorded by hand, or in no session: no session has such an id."""


def of_key(where: EpisodeFilter, key: str | None) -> EpisodeFilter:
    """Return what of the episodes that fit a filter belongs to the row of a key."""
    if key == BY_HAND:
        return replace(where, by_hand=True)
    return replace(where, session=key or where.session)


def is_session(key: str | None) -> bool:
    """Return whether a key is the id of a session."""
    return bool(key) and key != BY_HAND


_KEPT = 200


class ValidLines:
    """Lines that could be read, the last one at the end: an unfinished form of a wrong term is none of them."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def read(self, text: str) -> tuple[EpisodeFilter, str]:
        """Return the active filter, and what is wrong with the line (or an empty string).

        A field without a value is not applied yet, so that the list does not show everything meanwhile.
        """
        if wrong := problems_of(text):
            while self._lines and _is_unfinished(self._lines[-1], text):
                self._lines.pop()
            before = self._lines[-1] if self._lines else ""
            said = f"Still shown is what fits {before}." if before.strip() else "Still shown is everything."
            return filter_of(before), f"{' '.join(wrong)} {said}"
        self._lines = [*self._lines[-_KEPT:], text]
        return filter_of(text), ""


def _is_unfinished(line: str, text: str) -> bool:
    """Return whether a line is the beginning of another one, and ends in the middle of a term of it."""
    return text.startswith(line) and bool(line[-1:].strip()) and bool(text[len(line) : len(line) + 1].strip())
