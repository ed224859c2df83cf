"""The filter as a line of text: `why reverted type:task tool:Bash since:7d`, both ways between it and an `EpisodeFilter`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, get_args

from textual.binding import BindingType
from textual.content import Content
from textual.widget import Widget

from cm_tui.errors import UsageError
from cm_tui.model import EpisodeFilter, EpisodeStats, Facet
from cm_tui.model.dates import instant
from cm_tui.model.episode import EpisodeState, EpisodeType
from cm_tui.tui.modes.episodes.story import OUTCOMES
from cm_tui.tui.screens.question import ListDialog
from cm_tui.tui.state.filter_line import pieces_of
from cm_tui.tui.widgets.bars import share_bar
from cm_tui.tui.widgets.rowlist import RowList
from cm_tui.tui.widgets.split import Words
from cm_tui.tui.widgets.text import elide_end, one_line

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
    """Parse a line into words and values of fields; values with blanks are in double quotes."""
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
            wrong.append(f"{term.field}: missing value.")
            continue
        try:
            filter_of(str(term))
        except UsageError as error:
            wrong.append(error.one_line)
    return wrong


def _values(terms: Iterable[Term], field: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.value for one in terms if one.field == field and one.value))


def _known(terms: Iterable[Term], field: str, known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_one_of(field, value, known) for value in _values(terms, field))


def _one_of(field: str, value: str, known: Iterable[str]) -> str:
    if value.lower() not in known:
        raise UsageError(f"{field}: unknown value {value[:40]!r}.", hint=f"Use one of {', '.join(known)}.")
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
            fallback = f"Matches of {before} are still shown." if before.strip() else "Everything is still shown."
            return filter_of(before), f"{' '.join(wrong)} {fallback}"
        self._lines = [*self._lines[-_KEPT:], text]
        return filter_of(text), ""


def _is_unfinished(line: str, text: str) -> bool:
    """Return whether a line is the beginning of another one, and ends in the middle of a term of it."""
    return text.startswith(line) and bool(line[-1:].strip()) and bool(text[len(line) : len(line) + 1].strip())


_BAR = 12
_MOST = 40
"""Values of a field that are listed, those first that most episodes have."""


@dataclass(frozen=True)
class FacetRow:
    """A value to filter by; without a term the heading of a field."""

    title: str
    term: Term | None = None
    count: int | None = None
    share: float = 0.0
    active: bool = False


def facet_rows(stats: EpisodeStats, text: str) -> list[FacetRow]:
    """Return every value that can be chosen, those that the line has with a mark."""
    chosen = terms_of(text)
    rows: list[FacetRow] = []

    def fill(title: str, field: str, facets: tuple[Facet, ...]) -> None:
        known = {one.value for one in facets}
        missing = [Facet(one.value, 0) for one in chosen if one.field == field and one.value not in known]
        if facets or missing:
            rows.append(FacetRow(title))
        for one in (*facets[:_MOST], *missing):
            term = Term(one.value, field)
            share = one.count / stats.episodes if stats.episodes else 0.0
            rows.append(FacetRow(_words(field, one.value), term, one.count, share, term in chosen))

    outcomes = tuple(Facet(one.value or UNSAID, one.count) for one in stats.outcomes)
    fill("Outcome", "outcome", outcomes)
    fill("Type", "type", stats.types)
    fill("Agent", "agent", tuple(one for one in stats.agents if one.value))
    fill("Tool", "tool", stats.tools)
    fill("Tag", "tag", stats.tags)
    for title, choices in _CHOICES:
        rows.append(FacetRow(title))
        rows += [FacetRow(words, term, active=term in chosen) for words, term in choices]
    return rows


_CHOICES = (
    ("Time", (("today", Term("today", "since")), ("last 7 days", Term("7d", "since")), ("last 30 days", Term("30d", "since")))),
    ("Said by people", (("pinned", Term("yes", "pinned")), ("useful", Term("useful", "rated")), ("misled", Term("misled", "rated")))),
    ("State", (("forgotten", Term("forgotten", "state")), ("archived", Term("archived", "state")))),
)  # fmt: skip


def _words(field: str, value: str) -> str:
    if field != "outcome":
        return value
    mark, _, label = OUTCOMES["" if value == UNSAID else value]
    return f"{mark} {label}"


class FacetList(RowList[FacetRow]):
    """Values below the names of their fields."""

    BINDINGS: ClassVar[list[BindingType]] = [("space", "choose")]

    def draw(self, row: FacetRow, width: int) -> Content:
        """Mark, value, share, count."""
        if row.term is None:
            return Content.styled(f" {row.title}", "bold $primary")
        mark = "▪" if row.active else "▫"
        number = f"{row.count:,}" if row.count is not None else ""
        room = width - 6 - _BAR - 9
        title = elide_end(one_line(row.title), room)
        bar = share_bar(row.share, _BAR) if row.count is not None else Content(" " * _BAR)
        return Content.assemble(
            (f"   {mark} ", "$accent" if row.active else "$faint"),
            (title, "bold $foreground" if row.active else "$foreground"), " " * (room - len(title) + 1), bar,
            (f"{number:>8}", "$muted"),
        )  # fmt: skip


class FilterDialog(ListDialog[FacetRow]):
    """Adds values to a line and takes them out.

    Args:
        stats: of everything that there is.
        text: the line as it is.
        filtered: gets the line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [("x", "clear")]

    def __init__(self, stats: EpisodeStats, text: str, filtered: Callable[[str], object]) -> None:
        hint = " ⏎ Toggle · x Clear · esc Done "
        super().__init__(" Filter ", hint, (), FacetList(id="filter-list"), close="f,q", look="filter")
        self._stats, self._text, self._filtered = stats, text, filtered

    def above(self) -> Iterable[Widget]:
        """The line."""
        yield Words(id="filter-line")

    def opened(self) -> None:
        """The first value."""
        self._fill(1)
        self.note(
            Content.styled("Also possible: words, file:src/, session:ID, since:2026-01-31, until:yesterday", "$muted")
        )

    def _fill(self, cursor: int) -> None:
        self.list.set_rows(facet_rows(self._stats, self._text), cursor=cursor)
        words = Content(one_line(self._text)) if self._text else Content.styled("everything", "$muted")
        self.query_one("#filter-line", Words).update(words)

    def choose(self, row: FacetRow) -> None:
        """Add a value, or take it out."""
        if row.term is not None:
            self._text = toggled(self._text, row.term)
            self._fill(self.list.cursor)

    def action_clear(self) -> None:
        """Filter by nothing."""
        self._text = ""
        self._fill(1)

    def action_close(self) -> None:
        """Show what the line leaves."""
        self.dismiss(partial(self._filtered, self._text))
