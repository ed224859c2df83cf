"""Lists of episodes and sessions, and what they come to, from the tables alone."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.memory.episode_filter import Condition, condition, numbers_of
from cm_tui.engine.memory.episode_rows import LISTED, listed, storable
from cm_tui.engine.memory.episode_tables import EpisodeTables
from cm_tui.engine.memory.word_index import Numbers, WordIndex
from cm_tui.errors import NotFoundError
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Facet, Session
from cm_tui.model.page import MOST_ROWS, bounded

ShaOf = Callable[[int], str | None]
"""Says which commit of the mainline has an ordinal."""
_FACETS = 50
"""Values of a field that are named, the most frequent."""
_MOST_DAYS = 3_660
_TITLE_CHARACTERS = 200
_HAVING = "e.seq IN (SELECT seq FROM found_episodes)"
_COLUMNS = ", ".join(f"e.{name}" for name in LISTED)
_SESSION = """
SELECT e.session, max_by(e.agent, e.time), coalesce(max_by(e.title, e.time) FILTER (WHERE e.title <> ''), ''),
    coalesce(min_by(e.prompts, (e.time, e.seq)), '[]'), max(e.parent), min(e.time), max(e.time), count(*), sum(e.tokens)::BIGINT,
    count(*) FILTER (WHERE e.outcome IN ('failed', 'interrupted')), count(*) FILTER (WHERE e.pinned), max_by(e.root, e.time)
FROM episode e WHERE {where} AND e.session IN (SELECT unnest($sessions)) GROUP BY e.session
"""


class Found(NamedTuple):
    """Some rows of a list, and how many there are in all."""

    rows: tuple[Any, ...]
    total: int


class EpisodeLists:
    """Answers about all episodes of a store.

    Args:
        tables: of the store.
        sha_of: says which commit has an ordinal.
    """

    def __init__(self, tables: EpisodeTables, sha_of: ShaOf) -> None:
        self._tables = tables
        self._words = WordIndex(tables)
        self._sha_of = sha_of

    def page(self, where: EpisodeFilter, match: str, before: str | None, limit: int) -> Found:
        """Return episodes, newest first, not laid on the mainline.

        Raises:
            NotFoundError: there is no episode of the id `before`.
        """
        with self._fitting(where, match) as fitting:
            # Two narrow columns of all that fits are quicker to sort here than to be sorted and counted there.
            found = self._tables.cursor.execute(
                f"SELECT e.seq, e.time FROM episode e WHERE {fitting.sql}",  # noqa: S608 - our own words
                fitting.values,
            ).fetchnumpy()
            numbers, times = np.asarray(found["seq"]), np.asarray(found["time"])
            total = len(numbers)
            if before is not None:
                last = self._tables.rows("SELECT time, seq FROM episode WHERE id = ?", [storable(before)])
                if not last:
                    raise no_such(before)
                behind = (times < last[0][0]) | ((times == last[0][0]) & (numbers < last[0][1]))
                numbers, times = numbers[behind], times[behind]
            return Found(self.of(_newest(numbers, times, bounded(limit))), total)

    def of(self, numbers: Sequence[int]) -> tuple[Episode, ...]:
        """Return the episodes of these numbers, newest first."""
        if not numbers:
            return ()
        # As words of the query: a list that is given beside it costs more than the query.
        chosen = ", ".join(map(str, numbers))
        sql = f"SELECT {_COLUMNS} FROM episode e WHERE e.seq IN ({chosen}) ORDER BY e.time DESC, e.seq DESC"  # noqa: S608 - numbers
        return tuple(map(listed, self._tables.rows(sql)))

    def sessions(self, where: EpisodeFilter, before: str | None, limit: int) -> Found:
        """Return sessions, the one that ended last first.

        Raises:
            NotFoundError: there is no session of the id `before`.
        """
        with self._fitting(where, "") as fitting:
            grouped = f"SELECT e.session FROM episode e WHERE {fitting.sql} GROUP BY e.session"  # noqa: S608 - our own words
            # As many as there are sessions: few beside the episodes.
            order = [
                row[0] for row in self._tables.rows(f"{grouped} ORDER BY max(e.time) DESC, e.session", fitting.values)
            ]
            first = 0
            if before is not None:
                if before not in order:
                    raise NotFoundError(
                        f"There is no session {_shown(before)!r}.", hint="`cm episodes --sessions` lists them."
                    )
                first = order.index(before) + 1
            wanted = order[first : first + bounded(limit)]
            return Found(tuple(self._sessions(fitting, wanted)) if wanted else (), len(order))

    def _sessions(self, fitting: Condition, wanted: Sequence[str]) -> Iterator[Session]:
        values = {**fitting.values, "sessions": list(wanted)}
        rows = {row[0]: row for row in self._tables.rows(_SESSION.format(where=fitting.sql), values)}
        files = dict(
            self._tables.rows(
                "SELECT e.session, count(DISTINCT f.path) FROM episode e JOIN episode_file f USING (seq) "  # noqa: S608 - our own words
                f"WHERE {fitting.sql} AND e.session IN (SELECT unnest($sessions)) GROUP BY e.session",
                values,
            )
        )
        for name in wanted:
            session, agent, title, prompts, parent, began, ended, episodes, tokens, failed, pinned, root = rows[name]
            yield Session(
                id=session, agent=agent, title=title or first_line(prompts), parent=parent, began=began, ended=ended,
                episodes=episodes, tokens=tokens, files=files.get(name, 0), failed=failed, pinned=pinned, root=root,
            )  # fmt: skip

    def stats(self, where: EpisodeFilter, days: int) -> EpisodeStats:
        """Return totals of the episodes that fit.

        Args:
            where: which.
            days: how many days are counted one by one, today included.
        """
        edges = _midnights(max(1, min(days, _MOST_DAYS)))
        with self._fitting(where, "") as fitting:
            # Few kinds, however many episodes: one look gives the totals and three facets.
            kinds = self._tables.rows(
                "SELECT e.outcome, e.type, e.agent, count(*), sum(e.tokens)::BIGINT FROM episode e "  # noqa: S608 - our own words
                f"WHERE {fitting.sql} GROUP BY e.outcome, e.type, e.agent",
                fitting.values,
            )
            chosen = f"FROM %s t JOIN episode e USING (seq) WHERE {fitting.sql}"
            sessions = f"SELECT count(DISTINCT e.session) FROM episode e WHERE {fitting.sql}"  # noqa: S608 - our own words
            files = f"SELECT count(DISTINCT t.path) {chosen % 'episode_file'}"
            recent = f"SELECT e.time FROM episode e WHERE {fitting.sql} AND e.time >= $first"  # noqa: S608 - our own words
            times = [row[0] for row in self._tables.rows(recent, {**fitting.values, "first": edges[0]})]
            per_day = np.histogram(np.array(times), [*edges, float("inf")])[0]
            return EpisodeStats(
                episodes=sum(row[3] for row in kinds), sessions=self._tables.rows(sessions, fitting.values)[0][0],
                tokens=sum(row[4] for row in kinds), files=self._tables.rows(files, fitting.values)[0][0],
                per_day=tuple(int(one) for one in per_day), outcomes=_summed(kinds, 0), types=_summed(kinds, 1),
                agents=_summed(kinds, 2), tools=self._facets("tool", chosen, fitting.values),
                tags=self._facets("tag", chosen, fitting.values),
            )  # fmt: skip

    def _facets(self, name: str, chosen: str, values: dict[str, Any]) -> tuple[Facet, ...]:
        sql = f"SELECT t.{name}, count(*) {chosen % f'episode_{name}'} GROUP BY t.{name}"
        return _most_frequent(dict(self._tables.rows(sql, values)))

    @contextmanager
    def _fitting(self, where: EpisodeFilter, match: str) -> Iterator[Condition]:
        """Give the condition of what fits, with what its queries need; they all see the same rows."""
        with self._tables.reading():
            found = numbers_of(f"{where.text} {match}", self._words, self._of_ordinal)
            fitting = condition(where)
            if found is None:
                yield fitting
                return
            with self._tables.numbered(found):
                yield fitting._replace(sql=f"{fitting.sql} AND {_HAVING}")

    def _of_ordinal(self, ordinal: int) -> Numbers:
        sha = self._sha_of(ordinal) if ordinal <= MOST_ROWS else None
        rows = self._tables.rows("SELECT seq FROM episode WHERE sha = ?", [sha]) if sha else []
        return np.array([row[0] for row in rows], np.int32)


def _newest(numbers: NDArray[Any], times: NDArray[Any], limit: int) -> list[int]:
    """Return the numbers of the newest episodes, the newest first; of the same moment, the one that was read last."""
    if 0 < limit < len(times):
        oldest = np.partition(times, len(times) - limit)[len(times) - limit]
        numbers, times = numbers[times >= oldest], times[times >= oldest]
    order = np.lexsort((numbers, times))[::-1][:limit]
    return [int(number) for number in numbers[order]]


def _summed(kinds: Sequence[tuple[Any, ...]], place: int) -> tuple[Facet, ...]:
    found = Counter[str]()
    for row in kinds:
        found[row[place]] += row[3]
    return _most_frequent(found)


def _most_frequent(counted: Mapping[str, int]) -> tuple[Facet, ...]:
    order = sorted(counted.items(), key=lambda one: (-one[1], one[0]))
    return tuple(Facet(value, number) for value, number in order[:_FACETS])


def no_such(name: str) -> NotFoundError:
    """Return the error that there is no episode of a name."""
    return NotFoundError(f"There is no episode {_shown(name)!r}.", hint="`cm episodes` lists them.")


def _shown(name: str) -> str:
    return name[:40].encode("ascii", "backslashreplace").decode()


def first_line(prompts: str) -> str:
    """Return the first line that says something of prompts as the tables have them."""
    lines = (line.strip() for prompt in json.loads(prompts) for line in prompt.splitlines())
    return next((line for line in lines if line), "")[:_TITLE_CHARACTERS]


def _midnights(days: int) -> list[float]:
    """Return when the last days began, by the local clock, the oldest first."""
    now = time.localtime()
    return [
        time.mktime((now.tm_year, now.tm_mon, now.tm_mday - back, 0, 0, 0, 0, 0, -1))
        for back in range(days - 1, -1, -1)
    ]
