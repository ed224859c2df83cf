"""Lists and totals of episodes and sessions: queries on the tables."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from cm_tui.counts import count
from cm_tui.engine.memory.episodes.episode_index import having
from cm_tui.engine.memory.episodes.episode_tables import EpisodeTables, listed, storable
from cm_tui.errors import NotFoundError, UsageError
from cm_tui.model import Episode, EpisodeFilter, EpisodeStats, Facet, Session
from cm_tui.model.ids import SHORTEST_NAME, plain_id, quoted, where_ids_are
from cm_tui.model.page import MOST_ROWS, bounded

# --- names of episodes and sessions: a whole id, a unique prefix of it, or `last` ---

LAST = "last"
"""Names the newest episode."""
ANY, HIDDEN, IN_SIGHT = "true", "state = 'forgotten'", "state <> 'forgotten'"
"""Which episodes a name may mean, as SQL."""
_TOLD = 5


class Named(NamedTuple):
    """An episode found by name."""

    id: str
    number: int
    segment: int
    """End of its event in the journal; 0 and below: in the archive."""
    place: int


def episode_named(tables: EpisodeTables, name: str, among: str = ANY) -> Named:
    """Return an episode by a prefix of its id, or `last`.

    `name`: what was typed; `among`: SQL condition on the candidates. Raises NotFoundError if no episode has that name;
    UsageError if the name is ambiguous.
    """
    name = storable(plain_id(name).lower())
    newest = f"SELECT id, seq, segment, place FROM episode WHERE {among}"  # noqa: S608 - our own words
    if name == LAST:
        # Archived ones are older than all others.
        found = tables.rows(f"{newest} AND state <> 'archived' ORDER BY time DESC, seq DESC LIMIT 1")
    else:
        found = tables.rows(f"{newest} AND id = ?", [name])
    if not found and len(name) >= SHORTEST_NAME:
        found = tables.rows(f"{newest} AND starts_with(id, ?)", [name])
    if not found:
        raise no_such(name)
    if len(found) > 1:
        some = ", ".join(sorted(row[0] for row in found)[:_TOLD])
        raise UsageError(
            f"{count(len(found), 'episode')} begin with {name!r}: {some}.", hint="Give more characters of the id."
        )
    return Named(*found[0])


def episodes_named(tables: EpisodeTables, names: Sequence[str], among: str) -> tuple[str, ...]:
    """Return the ids of episodes by their names, each once.

    `names`: as for `episode_named`; `among`: SQL condition on the candidates. Raises NotFoundError if a name matches no
    episode; UsageError if a name is ambiguous.
    """
    whole = [storable(plain_id(name).lower()) for name in names]
    sql = f"SELECT id FROM episode WHERE {among} AND id IN (SELECT unnest(?))"  # noqa: S608 - our own words
    known = {row[0] for row in tables.rows(sql, [whole])}
    return tuple(dict.fromkeys(name if name in known else episode_named(tables, name, among).id for name in whole))


def session_named(tables: EpisodeTables, name: str) -> str:
    """Return the id of a session by a prefix of it.

    Raises NotFoundError if no session has that name; UsageError if the name is ambiguous.
    """
    known = "SELECT DISTINCT session FROM episode WHERE"
    # A program's session names may look like a kind with an id.
    whole = list(dict.fromkeys((storable(name), storable(plain_id(name)))))
    found = tables.rows(f"{known} session IN (SELECT unnest(?)) LIMIT 1", [whole])
    if not found and len(whole[-1]) >= SHORTEST_NAME:
        found = tables.rows(f"{known} starts_with(session, ?) ORDER BY session LIMIT 50", [whole[-1]])
    if not found:
        raise no_such_session(name)
    first = found[0][0] if found else ""
    # Sessions of sub-agents have names below their parent's.
    if len(found) > 1 and not all(row[0].startswith(f"{first}/") for row in found[1:]):
        some = ", ".join(row[0][:80] for row in found[:_TOLD])
        raise UsageError(
            f"{count(len(found), 'session')} begin with {name[:40]!r}: {some}.", hint="Give more characters of the id."
        )
    return str(first)


def is_whole(tables: EpisodeTables, name: str) -> bool:
    """Return whether there is an episode of this whole id."""
    return bool(tables.rows("SELECT 1 FROM episode WHERE id = ?", [storable(name.strip().lower())]))


def no_such(name: str) -> NotFoundError:
    """Return the error for an unknown episode."""
    return NotFoundError(f"Episode not found: {quoted(name)}.", hint=where_ids_are(name, "`cm episodes` lists them."))


def no_such_session(name: str) -> NotFoundError:
    """Return the error for an unknown session."""
    hint = where_ids_are(name, "`cm episodes list --sessions` lists them.")
    return NotFoundError(f"Session not found: {quoted(name)}.", hint=hint)


# --- lists and totals of episodes and sessions ---

ShaOf = Callable[[int], str | None]
"""Returns the mainline commit of an ordinal."""
_FACETS = 50
"""Values of a field that are named, the most frequent."""
_MOST_DAYS = 3_660
_ORDINAL = re.compile(r"#(\d{1,9})")
_ONE_OF = "IN (SELECT unnest(?::VARCHAR[]))"
_CONDITIONS: Mapping[str, str] = {
    "state": "state = ?",
    "types": f"type {_ONE_OF}",
    "outcomes": f"outcome {_ONE_OF}",
    "agents": f"agent {_ONE_OF}",
    "tools": f"seq IN (SELECT seq FROM episode_tool WHERE tool {_ONE_OF})",  # noqa: S608 - our own condition
    "tags": f"seq IN (SELECT seq FROM episode_tag WHERE tag {_ONE_OF})",  # noqa: S608 - our own condition
    "session": "session = ?",
    "since": "time >= ?",
    "until": "time < ?",
    "pinned": "pinned = ?",
    "rating": "rating = ?",
    "by_hand": "(session = '' OR agent = '') = ?",
}
"""Condition of each field of a filter that is one value or several alternatives."""
_BELOW = "seq IN (SELECT seq FROM episode_file WHERE path = ? OR starts_with(path, ?))"
_PAGE = """
WITH fits AS MATERIALIZED (SELECT seq, time FROM episode WHERE {where}),
page AS (
    SELECT * FROM fits WHERE ? OR time < ? OR (time = ? AND seq < ?) ORDER BY time DESC, seq DESC LIMIT ?
)
SELECT (SELECT count(*) FROM fits), (SELECT list(seq ORDER BY time DESC, seq DESC) FROM page)
"""
_SHOWN = """
SELECT e.seq, s.row, e.tags, e.pinned, e.rating, e.state FROM episode e JOIN episode_shown s ON s.seq = e.seq
WHERE e.seq IN ({chosen}) AND s.seq IN ({chosen})
"""
_SESSIONS = """
WITH found AS MATERIALIZED (SELECT session, max(time) AS ended FROM episode WHERE {where} GROUP BY session),
last AS (SELECT * FROM found WHERE session = ?),
page AS (
    SELECT found.* FROM found LEFT JOIN last ON true
    WHERE ? OR found.ended < last.ended OR (found.ended = last.ended AND found.session > last.session)
    ORDER BY found.ended DESC, found.session LIMIT ?
)
SELECT (SELECT count(*) FROM found), (SELECT list(session ORDER BY ended DESC, session) FROM page),
    EXISTS (SELECT 1 FROM last)
"""
_LAST_SESSIONS = """
SELECT session, max(parent), max(time) AS ended, arg_max(root, (time, seq)) FROM episode
WHERE time >= ? AND state = 'shown' AND session <> '' AND agent <> '' GROUP BY session ORDER BY ended DESC, session LIMIT ?
"""
_TOTALS = """
WITH chosen AS (SELECT unnest(?::VARCHAR[]) AS session),
titles AS (
    SELECT session, coalesce(
        arg_max(title, (actor = 'person', time, seq)) FILTER (title <> ''), arg_min(prompt, (time, seq))
    ) AS called
    FROM episode SEMI JOIN chosen USING (session) WHERE ? OR state <> 'forgotten' GROUP BY session
),
fits AS MATERIALIZED (SELECT * FROM episode SEMI JOIN chosen USING (session) WHERE {where}),
files AS (SELECT session, count(DISTINCT path) AS files FROM fits JOIN episode_file USING (seq) GROUP BY session)
SELECT session, arg_max(agent, (time, seq)), coalesce(any_value(called), ''), max(parent), min(time), max(time),
    count(*), sum(tokens), coalesce(any_value(files), 0), count(*) FILTER (outcome = 'failed'),
    count(*) FILTER (pinned), arg_max(root, (time, seq))
FROM fits LEFT JOIN titles USING (session) LEFT JOIN files USING (session) GROUP BY session
"""
"""The fields of a session, in order. Its title does not depend on the filter, the user's comes first, and it never
comes from forgotten episodes unless those are requested."""
_STATS = """
WITH fits AS MATERIALIZED (SELECT seq, time, session, tokens, outcome, type, agent FROM episode WHERE {where})
SELECT 'episodes', '', count(*) FROM fits
UNION ALL SELECT 'sessions', '', count(DISTINCT session) FROM fits
UNION ALL SELECT 'tokens', '', coalesce(sum(tokens), 0) FROM fits
UNION ALL SELECT 'files', '', count(DISTINCT path) FROM episode_file SEMI JOIN fits USING (seq)
UNION ALL SELECT 'outcomes', outcome, count(*) FROM fits GROUP BY outcome
UNION ALL SELECT 'types', type, count(*) FROM fits GROUP BY type
UNION ALL SELECT 'agents', agent, count(*) FROM fits GROUP BY agent
UNION ALL SELECT 'tools', tool, count(*) FROM episode_tool SEMI JOIN fits USING (seq) GROUP BY tool
UNION ALL SELECT 'tags', tag, count(*) FROM episode_tag SEMI JOIN fits USING (seq) GROUP BY tag
UNION ALL SELECT 'days', day::VARCHAR, count(*) FROM fits ASOF JOIN (
    SELECT unnest(?::DOUBLE[]) AS begin, generate_subscripts(?::DOUBLE[], 1) AS day
) ON time >= begin GROUP BY day
"""
_WITH_ANY = """
WITH fits AS MATERIALIZED (SELECT seq, time, segment, place FROM episode WHERE {where}),
asked AS (SELECT unnest(?::VARCHAR[]) AS asked),
pairs AS MATERIALIZED (
    SELECT asked, seq FROM asked JOIN episode_text ON contains(words, asked)
    UNION SELECT asked, unnest(seqs) FROM asked JOIN episode_word ON contains(word, asked)
    UNION SELECT asked, seq FROM asked JOIN episode ON contains(id, asked) WHERE regexp_full_match(asked, '[0-9a-f]+')
),
weights AS (
    SELECT asked, ln(1 + (SELECT count(*) FROM fits) / count(*)) AS weight FROM pairs SEMI JOIN fits USING (seq) GROUP BY asked
)
SELECT segment, place FROM fits JOIN (
    SELECT seq, round(sum(weight), 9) AS total FROM pairs JOIN weights USING (asked) GROUP BY seq
) USING (seq) ORDER BY total DESC, time DESC, seq DESC
"""


class Found(NamedTuple):
    """Some rows of a list, and how many there are in all."""

    rows: tuple[Any, ...]
    total: int


class UsedSession(NamedTuple):
    """A session with shown episodes of an agent."""

    id: str
    parent: str
    ended: float
    root: str


class EpisodeLists:
    """Queries over all episodes of a store. `sha_of`: returns the commit of an ordinal."""

    def __init__(self, tables: EpisodeTables, sha_of: ShaOf) -> None:
        self._tables = tables
        self._sha_of = sha_of

    def page(self, where: EpisodeFilter, match: str, before: str | None, limit: int) -> Found:
        """Return episodes, newest first, not placed on the mainline.

        `match`: further words; `before`: only those after this one in the list; `limit`: the most to return. Raises
        NotFoundError if no episode has the name `before`; UsageError if that name is ambiguous.
        """
        condition, values = self._condition(where, match)
        with self._tables.reading():
            at, number = 0.0, 0
            if before is not None:
                number = episode_named(self._tables, before).number
                at = self._tables.row("SELECT time FROM episode WHERE seq = ?", [number])[0]
            after = [before is None, at, at, number, bounded(limit)]
            total, numbers = self._tables.row(_PAGE.format(where=condition), [*values, *after])
            return Found(self._shown(numbers or ()), total)

    def ids(self, where: EpisodeFilter) -> list[str]:
        """Return the ids of all that fit."""
        condition, values = self._condition(where)
        return [row[0] for row in self._tables.rows(f"SELECT id FROM episode WHERE {condition}", values)]  # noqa: S608 - our own conditions

    def with_any(self, words: Sequence[str], where: EpisodeFilter) -> list[tuple[int, int]]:
        """Return segment and place of episodes with any of some words: those with most of the rarest, newer ones first."""
        condition, values = self._condition(where)
        asked = list(dict.fromkeys(map(storable, words)))
        return self._tables.rows(_WITH_ANY.format(where=condition), [*values, asked])

    def one(self, number: int) -> Episode | None:
        """Return the episode of a number, not placed on the mainline; None if removed."""
        return next(iter(self._shown([number])), None)

    def _shown(self, numbers: Sequence[int]) -> tuple[Episode, ...]:
        """Return the episodes of these numbers, in their order."""
        if not numbers:
            return ()
        # Part of the query text: a list as a parameter costs more than the query.
        rows = self._tables.rows(_SHOWN.format(chosen=", ".join(map(str, numbers))))
        found = {
            seq: listed(shown, _tags(tags), pinned=pinned, rating=rating, state=state)
            for seq, shown, tags, pinned, rating, state in rows
        }
        return tuple(found[number] for number in numbers if number in found)

    def sessions(self, where: EpisodeFilter, before: str | None, limit: int) -> Found:
        """Return sessions, the last one to end first, of equal times by id.

        Raises NotFoundError if no session has the id `before`.
        """
        condition, values = self._condition(where)
        with self._tables.reading():
            after = [before or "", before is None, bounded(limit)]
            total, wanted, is_there = self._tables.row(_SESSIONS.format(where=condition), [*values, *after])
            if before is not None and not is_there:
                raise no_such_session(before)
            told = [wanted or [], where.state == "forgotten", *values]
            rows = {row[0]: Session(*row) for row in self._tables.rows(_TOTALS.format(where=condition), told)}
            return Found(tuple(rows[id_] for id_ in wanted or ()), total)

    def last_sessions(self, since: float, limit: int) -> list[UsedSession]:
        """Return agents' sessions since a time, the last one to end first, without their totals."""
        return [UsedSession(*row) for row in self._tables.rows(_LAST_SESSIONS, [since, limit])]

    def stats(self, where: EpisodeFilter, days: int) -> EpisodeStats:
        """Return totals of the episodes that fit.

        `days`: how many days are counted one by one, today included.
        """
        condition, values = self._condition(where)
        days = max(1, min(days, _MOST_DAYS))
        edges = _midnights(days)
        counted: dict[str, dict[str, int]] = {}
        for name, value, number in self._tables.rows(_STATS.format(where=condition), [*values, edges, edges]):
            counted.setdefault(name, {})[value] = number
        fields: dict[str, Any] = {name: counted[name][""] for name in ("episodes", "sessions", "tokens", "files")}
        for name in ("outcomes", "types", "agents", "tools", "tags"):
            fields[name] = _most_frequent(counted.get(name, {}))
        per_day = tuple(counted.get("days", {}).get(str(day), 0) for day in range(1, days + 1))
        return EpisodeStats(**fields, per_day=per_day)

    def _condition(self, where: EpisodeFilter, match: str = "") -> tuple[str, list[Any]]:
        """Return the condition of a filter as SQL, and its values."""
        parts, values = list[str](), list[Any]()
        for name, sql in _CONDITIONS.items():
            if (value := getattr(where, name)) not in (None, "", ()):
                parts.append(sql)
                values.append(_plain(value))
        if path := storable(where.file).strip().strip("/"):
            parts.append(_BELOW)
            values += [path, f"{path}/"]
        if words := storable(f"{where.text} {match}").lower().split():
            sql, texts = having({word: self._commit_named(word) for word in words})
            parts.append(sql)
            values += texts
        return " AND ".join(parts), values

    def _commit_named(self, word: str) -> str | None:
        ordinal = _ORDINAL.fullmatch(word)
        return self._sha_of(int(ordinal[1])) if ordinal and int(ordinal[1]) <= MOST_ROWS else None


def _plain(value: Any) -> Any:
    """Return a filter's value as one that the store can take."""
    if isinstance(value, tuple):
        return list(map(storable, value))
    return storable(value) if isinstance(value, str) else value


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
