"""Signals of memory: the dates and the person that a query names."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.candidate_table import CandidateTable, Column
from cm_tui.engine.search.ranking.date_spans import Span
from cm_tui.engine.search.ranking.dates import read
from cm_tui.engine.search.ranking.keyword import KeywordIndex
from cm_tui.engine.search.ranking.passage_cache import PassageCache
from cm_tui.engine.search.ranking.retrieve import Ids, KeywordScores
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import Profile

DATE, SPEAKER = "date", "speaker"
_SAID = 0.8
"""Weight of a date in a text, relative to the date of the passage."""
_LEAST = 0.05
_EVENTS = 3
"""Passages that may contain the date of an event."""
_ALIKE = 0.2
"""Least cosine of a passage about the same subject."""
_DAY = 86_400
_FIRST_DAY = date(1970, 1, 1).toordinal()
_LAST_DAY = date(2200, 1, 1).toordinal()
_SPEAKER = re.compile(r"(?:\A|\n\n)([^\W\d_][\w'-]+)[^:\n]{0,40}: ")
_NO_NAMES = tokens.word_set("user plan files verdict")
"""Words that paragraphs of a turn begin with."""


class QueryDate(NamedTuple):
    """A date in a query."""

    text: str
    """As in the query."""
    spans: tuple[Span, ...]
    """Alternatives."""


def query_dates(
    question: str, profile: Profile, records: PassageCache, index: KeywordIndex, now: float
) -> tuple[QueryDate, ...]:
    """Return the dates in a query, if the profile weighs them.

    Args:
        question: the query.
        profile: with the sources.
        records: the times of passages.
        index: finds the date of an event, such as a release.
        now: the time that relative dates count from, seconds since the epoch.
    """
    mentions = read(question) if profile.adjustments.get(DATE) else ()
    if not mentions:
        return ()
    ids, times = records.times(profile.sources)
    days, today = _ordinals(times), date.fromordinal(int(_ordinals(np.array([now]))[0]))
    found = []
    for mention in mentions:
        if mention.event:
            spans = [span for day in _days_of(mention.event, profile, index, ids, days) for span in mention.days(day)]
        else:
            # Of dates that recur, the last one with memories.
            every = mention.days(today)
            spans = [one for one in every if ((days >= one.first) & (days <= one.last)).any()][:1] or list(every[:1])
        if spans:
            found.append(QueryDate(question[mention.start : mention.end], tuple(spans)))
    return tuple(found)


def numbers(dates: Sequence[QueryDate]) -> frozenset[str]:
    """Return the numbers in dates: other texts with such a number are about something else."""
    return frozenset(word for one in dates for word in tokens.words(one.text) if word.isdigit())


def described(dates: Sequence[QueryDate]) -> str:
    """Return a note on how dates were read."""
    shown = [f"{one.text} ({', '.join(dict.fromkeys(map(_days, one.spans)))})" for one in dates]
    return f"Dates in the query: {'; '.join(shown)}."


def signals(
    table: CandidateTable, question: str, dates: Sequence[QueryDate], weights: Mapping[str, float]
) -> dict[str, Column]:
    """Return the signals for the dates and the person in a query."""
    found = {DATE: _dated(table, dates)} if dates else {}
    if weights.get(SPEAKER) and (spoken := _speaker_column(table, question)) is not None:
        found[SPEAKER] = spoken
    return found


# --- dates ---


def _days(span: Span) -> str:
    first, last = (date.fromordinal(max(day, 1)).isoformat() for day in (span.first, span.last))
    return first if first == last else f"{first} to {last}"


def _ordinals(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Local days; nan without a time."""
    offset = time.localtime().tm_gmtoff
    days: NDArray[np.float64] = np.floor((times + offset) / _DAY) + _FIRST_DAY
    # Times far beyond are damage, and no day of any calendar.
    return np.where(days < _LAST_DAY, days, np.nan)


def _days_of(event: str, profile: Profile, index: KeywordIndex, ids: Ids, days: NDArray[np.float64]) -> list[date]:
    """The probable days of an event, the last first: those of the passages with most of its words."""
    best: list[tuple[float, float]] = []
    for source in dict.fromkeys(profile.sources):
        wording = wording_of(source)
        terms = [term for word in wording.kept(tokens.content_words(event)) for term in wording.split(word)]
        found = KeywordScores(*index.documents_and_terms(terms, source), wording)
        for position in found.top(_EVENTS).tolist():
            at = np.searchsorted(ids, found.documents.ids[position])
            if at < len(ids) and ids[at] == found.documents.ids[position] and not np.isnan(days[at]):
                best.append((float(found.scores[position]), float(days[at])))
    enough = max((score for score, _ in best), default=0.0) / 2
    return [date.fromordinal(int(day)) for day in sorted({day for score, day in best if score > enough}, reverse=True)]


def _dated(table: CandidateTable, dates: Sequence[QueryDate]) -> Column:
    """How near the date of each candidate, or one in its text, is to the dates."""
    times = np.array([np.nan if time is None else time for time in table.times])
    days, best = _ordinals(times), np.zeros(len(table))
    spans = [span for one in dates for span in one.spans]
    for span in spans:
        gaps = np.maximum(0.0, np.maximum(span.first - days, days - span.last))
        np.maximum(best, np.nan_to_num(np.exp2(-gaps / span.slack)), out=best)
    for row in np.flatnonzero((best < _SAID) & ~np.isnan(days)).tolist():
        best[row] = max(best[row], _SAID * _named(table.texts[row], date.fromordinal(int(days[row])), spans))
    return np.where(best < _LEAST, 0.0, best)


def _named(text: str, day: date, wanted: Sequence[Span]) -> float:
    """How well the dates in a text, relative to its day, fit the dates of a query."""
    best, at = 0.0, day.toordinal()
    for mention in read(text):
        found = () if mention.event else mention.days(day)
        if found:
            span = min(found, key=lambda one: max(0, one.first - at, at - one.last))
            best = max(best, *(_fit(span, one) for one in wanted))
    return best


def _fit(named: Span, wanted: Span) -> float:
    """How much of a date is inside another one: a whole year is weak evidence for a day."""
    gap = max(0, wanted.first - named.last, named.first - wanted.last)
    share = (wanted.last - wanted.first + wanted.slack) / (named.last - named.first + wanted.slack)
    return float(2.0 ** (-gap / wanted.slack)) * min(1.0, share)


# --- speakers ---


def _speaker_column(table: CandidateTable, question: str) -> Column | None:
    """1 for related turns of the person that the query names; None without such a person, or with several."""
    words = frozenset(word.lower() for word in tokens.words(question)) - _NO_NAMES - tokens.STOP_WORDS
    found = [_speakers(text) for text in table.texts]
    named = words & frozenset[str]().union(*found)
    if len(named) != 1:
        return None
    name = {term for source in dict.fromkeys(table.sources) for term in wording_of(source).terms(*named)}
    columns = [column for column, term in enumerate(table.terms) if term not in name]
    related = (table.bm25_by_term[:, columns] > 0).any(axis=1) | (np.nan_to_num(table.cosines) >= _ALIKE)
    return np.where(related, [float(not named.isdisjoint(one)) for one in found], 0.0)


@lru_cache(maxsize=1 << 11)
def _speakers(text: str) -> frozenset[str]:
    """First names, in lower case, before the paragraphs of a turn."""
    return frozenset(name.lower() for name in _SPEAKER.findall(text))
