"""Lists and totals of episodes and sessions: selected in columns, shown from the tables."""

from __future__ import annotations

import json
import math
import operator
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episodes.episode_columns import Columns, EpisodeColumns, Mask
from cm_tui.engine.memory.episodes.episode_names import episode_named, no_such_session
from cm_tui.engine.memory.episodes.episode_rows import listed
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables
from cm_tui.engine.memory.episodes.session_totals import SessionTotals, total_of
from cm_tui.engine.memory.episodes.word_index import Numbers, WordIndex, Words
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Facet
from cm_tui.model.page import MOST_ROWS, bounded

_ORDINAL = re.compile(r"#(\d{1,9})")
_LISTS = (("types", "type"), ("outcomes", "outcome"), ("agents", "agent"))
_PAIRS = (("tools", "tool"), ("tags", "tag"))
_COMPARED: tuple[tuple[str, str, Callable[[Any, Any], Any]], ...] = (
    ("since", "time", operator.ge), ("until", "time", operator.lt), ("pinned", "pinned", operator.eq),
    ("rating", "rating", operator.eq),
)  # fmt: skip


def fitting(columns: Columns, where: EpisodeFilter) -> Mask:
    """Return which episodes fit a filter, but for its text."""
    left = columns.has("state", [where.state])
    for name, column in _LISTS:
        if wanted := getattr(where, name):
            left &= columns.has(column, wanted)
    for name, column in _PAIRS:
        if wanted := getattr(where, name):
            left &= columns.is_paired(column, columns.names[column].find(wanted))
    if path := where.file.strip().strip("/"):
        below = f"{path}/"
        paths = enumerate(columns.names["file"].texts)
        left &= columns.is_paired("file", [code for code, one in paths if one == path or one.startswith(below)])
    if where.session:
        left &= columns.has("session", [where.session])
    for name, column, compare in _COMPARED:
        if (value := getattr(where, name)) is not None:
            left &= compare(columns.plain[column], value)
    if where.by_hand is not None:
        left &= _by_hand(columns) == where.by_hand
    return left


def _by_hand(columns: Columns) -> Mask:
    """Return which episodes no agent has a part in, or belong to no session."""
    return columns.has("session", [""]) | columns.has("agent", [""])


def numbers_of(text: str, words: Words, of_ordinal: Callable[[int], Numbers]) -> Numbers | None:
    """Return the sorted numbers of the episodes with all words of a text; None: it has no words.

    `text`: what the user typed; `words`: returns which episodes have a word; `of_ordinal`: returns which saw a commit
    of the mainline.
    """
    left: NDArray[np.bool_] | None = None
    for word in dict.fromkeys(text.encode("utf-8", "replace").decode().replace("\0", " ").lower().split()):
        found = words.having(word)
        ordinal = _ORDINAL.fullmatch(word)
        if ordinal is not None:
            found = np.concatenate([found, of_ordinal(int(ordinal[1]))])
        has = np.zeros(1 + max(found.max(initial=0), 0 if left is None else len(left) - 1), bool)
        has[found] = True
        if left is not None:
            has[: len(left)] &= left
            has[len(left) :] = False
        left = has
    return None if left is None else np.flatnonzero(left).astype(np.int32)


def session_titles(columns: Columns, tables: EpisodeTables, sessions: Sequence[int], state: str) -> Mapping[str, str]:
    """Return titles of sessions by id.

    The user's title comes first. A title does not depend on the filter, and never comes from forgotten episodes unless
    those are requested. `columns`: of all episodes; `tables`: with the prompts.
    """
    counts = columns.coded["state"] >= 0
    if state != "forgotten":
        counts &= ~columns.has("state", ["forgotten"])
    numbers = np.flatnonzero(counts & np.isin(columns.coded["session"], list(sessions)))
    titled = numbers[columns.coded["title"][numbers] != _untitled(columns)]
    of_person = columns.has("actor", ["person"])[titled]
    last = _last_of_each(columns, titled[np.lexsort((titled, columns.plain["time"][titled], of_person))])
    titles = columns.names["title"].texts
    found = {session: titles[columns.coded["title"][number]] for session, number in last.items()}
    first = _last_of_each(columns, numbers[np.lexsort((numbers, columns.plain["time"][numbers]))][::-1])
    asked = _prompts(tables, [number for session, number in first.items() if session not in found])
    names = columns.names["session"].texts
    return {names[code]: found.get(code) or asked.get(number, "") for code, number in first.items()}


def _untitled(columns: Columns) -> int:
    return next(iter(columns.names["title"].find([""])), -1)


def _last_of_each(columns: Columns, numbers: NDArray[np.int64]) -> dict[int, int]:
    """Return the last episode of each session, in the order given."""
    return dict(zip(columns.coded["session"][numbers].tolist(), numbers.tolist(), strict=True))


def _prompts(tables: EpisodeTables, numbers: Sequence[int]) -> Mapping[int, str]:
    if not numbers:
        return {}
    chosen = ", ".join(map(str, numbers))
    return dict(tables.rows(f"SELECT seq, prompt FROM episode WHERE seq IN ({chosen})"))  # noqa: S608 - numbers


ShaOf = Callable[[int], str | None]
"""Returns the mainline commit of an ordinal."""
_FACETS = 50
"""Values of a field that are named, the most frequent."""
_MOST_DAYS = 3_660


class Found(NamedTuple):
    """Some rows of a list, and how many there are in all."""

    rows: tuple[Any, ...]
    total: int


class EpisodeLists:
    """Queries over all episodes of a store. `sha_of`: returns the commit of an ordinal."""

    def __init__(self, tables: EpisodeTables, sha_of: ShaOf) -> None:
        self._tables = tables
        self._columns = EpisodeColumns(tables)
        self._words = WordIndex(tables)
        self._sha_of = sha_of

    def page(self, where: EpisodeFilter, match: str, before: str | None, limit: int) -> Found:
        """Return episodes, newest first, not placed on the mainline.

        `match`: further words; `before`: only those after this one in the list; `limit`: the most to return. Raises
        NotFoundError if no episode has the name `before`; UsageError if that name is ambiguous.
        """
        with self._columns.reading() as columns:
            numbers = np.flatnonzero(self._fitting(columns, where, match))
            times = columns.plain["time"][numbers]
            total = len(numbers)
            if before is not None:
                number = episode_named(self._tables, before).number
                last = columns.plain["time"][number]
                behind = (times < last) | ((times == last) & (numbers < number))
                numbers, times = numbers[behind], times[behind]
            return Found(self._shown(columns, _newest(numbers, times, bounded(limit))), total)

    def ids(self, where: EpisodeFilter) -> list[str]:
        """Return the ids of all that fit."""
        with self._columns.reading() as columns:
            numbers = np.flatnonzero(self._fitting(columns, where)).astype(np.int32)
            with self._tables.numbered(numbers):
                sql = "SELECT e.id FROM episode e WHERE e.seq IN (SELECT seq FROM found_episodes)"
                return [row[0] for row in self._tables.rows(sql)]

    def with_any(self, words: Sequence[str], where: EpisodeFilter) -> list[tuple[int, int]]:
        """Return segment and place of episodes with any of some words: those with most of the rarest, newer ones first."""
        with self._columns.reading() as columns:
            fits = self._fitting(columns, where)
            weights = np.zeros(len(fits))
            now = self._words.at(columns.version)
            for word in words:
                having = now.having(word)
                having = having[fits[having]]
                if len(having):
                    weights[having] += math.log(1 + np.count_nonzero(fits) / len(having))
            found = np.flatnonzero(weights).astype(np.int32)
            order = np.lexsort((columns.plain["time"][found], weights[found]))[::-1]
            with self._tables.numbered(found):
                sql = "SELECT seq, segment, place FROM episode WHERE seq IN (SELECT seq FROM found_episodes)"
                places = {row[0]: row[1:] for row in self._tables.rows(sql)}
        return [places[number] for number in found[order].tolist()]

    def one(self, number: int) -> Episode | None:
        """Return the episode of a number, not placed on the mainline; None if removed."""
        with self._columns.reading() as columns:
            return next(iter(self._shown(columns, [number])), None)

    def _shown(self, columns: Columns, numbers: Sequence[int]) -> tuple[Episode, ...]:
        """Return the episodes of these numbers, in their order."""
        if not numbers:
            return ()
        # Part of the query text: a list as a parameter costs more than the query.
        chosen = ", ".join(map(str, numbers))
        shown = dict(self._tables.rows(f"SELECT seq, row FROM episode_shown WHERE seq IN ({chosen})"))  # noqa: S608 - numbers
        pinned, rating = columns.plain["pinned"], columns.plain["rating"]
        return tuple(
            listed(
                shown[number], _tags(columns.text("tags", number)), pinned=bool(pinned[number]),
                rating=int(rating[number]), state=columns.text("state", number),
            )
            for number in numbers
            if number in shown
        )  # fmt: skip

    def sessions(self, where: EpisodeFilter, before: str | None, limit: int) -> Found:
        """Return sessions, the last one to end first.

        Raises NotFoundError if no session has the id `before`.
        """
        with self._columns.reading() as columns:
            found = SessionTotals(columns, self._fitting(columns, where))
            order, first = found.order(), 0
            if before is not None:
                last = columns.names["session"].find([before])
                if not last or last[0] not in order:
                    raise no_such_session(before)
                first = order.index(last[0]) + 1
            wanted = order[first : first + bounded(limit)]
            titles = session_titles(columns, self._tables, wanted, where.state)
            return Found(tuple(found.sessions(wanted, titles)), len(order))

    def stats(self, where: EpisodeFilter, days: int) -> EpisodeStats:
        """Return totals of the episodes that fit.

        `days`: how many days are counted one by one, today included.
        """
        edges = _midnights(max(1, min(days, _MOST_DAYS)))
        with self._of_now(where) as columns:
            fits = self._fitting(columns, where)
            times, facets = (
                columns.plain["time"][fits],
                {
                    name: _most_frequent(columns.counts(name, fits))
                    for name in ("outcome", "type", "agent", "tool", "tag")
                },
            )
            return EpisodeStats(
                episodes=len(times), sessions=columns.distinct("session", fits),
                tokens=total_of(columns.plain["tokens"][fits]), files=columns.distinct("file", fits),
                per_day=tuple(int(one) for one in np.histogram(times[times >= edges[0]], [*edges, float("inf")])[0]),
                outcomes=facets["outcome"], types=facets["type"], agents=facets["agent"], tools=facets["tool"],
                tags=facets["tag"],
            )  # fmt: skip

    def _of_now(self, where: EpisodeFilter) -> AbstractContextManager[Columns]:
        """Return the columns, in one state with the store where a filter's words need it."""
        return self._columns.reading() if where.text.strip() else nullcontext(self._columns.now())

    def _fitting(self, columns: Columns, where: EpisodeFilter, match: str = "") -> Mask:
        """Return which episodes fit."""
        known = columns.remembered.get((where, match))
        if known is not None:
            return known
        fits = fitting(columns, where)
        text = f"{where.text} {match}"
        found = numbers_of(text, self._words.at(columns.version), self._of_ordinal) if text.strip() else None
        if found is not None:
            has = np.zeros(len(fits), bool)
            has[found] = True
            fits &= has
        if "#" not in text:
            # The columns cannot resolve `#17` to a commit.
            columns.remember((where, match), fits)
        return fits

    def _of_ordinal(self, ordinal: int) -> Numbers:
        sha = self._sha_of(ordinal) if ordinal <= MOST_ROWS else None
        rows = self._tables.rows("SELECT seq FROM episode WHERE sha = ?", [sha]) if sha else []
        return np.array([row[0] for row in rows], np.int32)


def _newest(numbers: NDArray[Any], times: NDArray[Any], limit: int) -> list[int]:
    """Return the numbers of the newest episodes, the newest first; of equal times, the last read first."""
    if 0 < limit < len(times):
        oldest = np.partition(times, len(times) - limit)[len(times) - limit]
        numbers, times = numbers[times >= oldest], times[times >= oldest]
    order = np.lexsort((numbers, times))[::-1][:limit]
    return [int(number) for number in numbers[order]]


def _most_frequent(counted: Mapping[str, int]) -> tuple[Facet, ...]:
    order = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Facet(value, number) for value, number in order[:_FACETS])


@lru_cache
def _tags(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _midnights(days: int) -> list[float]:
    """Return when the last days began, by the local clock, the oldest first."""
    now = time.localtime(time.time())
    return [
        time.mktime((now.tm_year, now.tm_mon, now.tm_mday - back, 0, 0, 0, 0, 0, -1))
        for back in range(days - 1, -1, -1)
    ]
