"""Candidates for proposals: facts with their counts, authors and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cm_tui.engine.memory.narrator import confidence
from cm_tui.engine.memory.narrator.candidate import Candidate, Tally
from cm_tui.engine.memory.narrator.overlaps import without_overlaps
from cm_tui.engine.memory.narrator.seen_rows import PLAIN, WORDED
from cm_tui.engine.memory.narrator.tables import NarratorTables, number_of
from cm_tui.model import Cancel, ConfidencePart, FactKind

MOST = 1_000
"""The most facts to propose at once, the surest first. The next ones follow once these are decided."""
_ALONE = 0.5
"""Least plainness of a statement from a single session; a habit needs more than one."""
_COMPETING = ", ".join(f"'{kind}'" for kind in sorted(WORDED))
"""Kinds in which another claim on the same subject counts against a claim."""
_COUNTED = "'cochange', 'convention', 'fix', 'workflow'"
"""Kinds in which observations without a claim count the occurrences of a subject: each one without a claim counts against
it. A subject may have several parts, one per line."""
_PLAIN = 0.6
"""A fact said once and similar to one said this plainly is held back."""
_TALLY = f"""
WITH chosen AS MATERIALIZED (SELECT * FROM narrator_group WHERE {{where}}),
subjects AS (
    SELECT subject, sum(support)::INTEGER AS said, max(last, 2) AS lasts,
        coalesce(string_agg(speakers, chr(10)) FILTER (speakers <> ''), '') AS speakers
    FROM narrator_group
    WHERE subject IN (SELECT subject FROM chosen WHERE subject <> '' AND kind IN ({_COMPETING}))
        AND kind IN ({_COMPETING})
    GROUP BY subject HAVING count(*) > 1
),
parts AS (
    SELECT grp, kind, support, last, unnest(string_split(subject, chr(10))) AS subject
    FROM chosen WHERE kind IN ({_COUNTED})
),
without AS (
    SELECT p.grp, ceil(CASE p.kind WHEN 'workflow' THEN avg(greatest(0, b.support - p.support))
            ELSE sum(greatest(0, b.support - p.support)) END)::INTEGER AS times,
        max(b.last) FILTER (b.last > p.last) AS last
    FROM parts p JOIN narrator_group b ON b.kind = p.kind AND b.subject = p.subject AND b.claim = ''
    GROUP BY p.grp, p.kind
),
alike AS (
    SELECT DISTINCT g.grp FROM chosen g JOIN narrator_near n ON n.one = g.grp JOIN narrator_group o ON o.grp = n.other
    WHERE g.occasions = 1 AND (o.occasions > 1 OR o.first < g.first) AND o.weight >= {_PLAIN}
        AND (o.subject = '' OR o.subject <> g.subject)
)
SELECT g.grp, g.kind, g.support, g.sessions, g.opposed + coalesce(o.said - g.support, 0) + coalesce(w.times, 0),
    g.first, g.last, greatest(g.last_opposed, coalesce(w.last, 0),
        coalesce(CASE WHEN o.lasts[1] = g.last THEN o.lasts[2] ELSE o.lasts[1] END, 0)), g.weight,
    g.speakers, coalesce(o.speakers, ''), h.grp IS NOT NULL, g.occasions
FROM chosen g LEFT JOIN subjects o ON o.subject = g.subject AND g.kind IN ({_COMPETING})
LEFT JOIN without w ON w.grp = g.grp
LEFT JOIN alike h ON h.grp = g.grp
"""  # noqa: S608 - our own words
_COMPETITORS = f"""
UPDATE narrator_group SET rated = false WHERE rated AND subject <> '' AND kind IN ({_COMPETING}) AND subject IN (
    SELECT subject FROM narrator_group WHERE grp IN (SELECT grp FROM {{table}}) AND kind IN ({_COMPETING})
)
"""  # noqa: S608 - our own words
_WITHOUT = f"""
UPDATE narrator_group SET rated = false WHERE rated AND kind IN ({_COUNTED}) AND grp IN (
    SELECT p.grp FROM (
        SELECT grp, kind, unnest(string_split(subject, chr(10))) AS subject FROM narrator_group
        WHERE rated AND kind IN ({_COUNTED}) AND claim <> ''
    ) p SEMI JOIN (
        SELECT kind, subject FROM narrator_group WHERE grp IN (SELECT grp FROM {{table}}) AND claim = ''
    ) b ON b.kind = p.kind AND b.subject = p.subject
)
"""  # noqa: S608 - our own words
_NEAR = """
UPDATE narrator_group SET rated = false WHERE rated AND grp IN (
    SELECT one FROM narrator_near WHERE other IN (SELECT grp FROM {table})
)
"""
"""Whether a fact said once is held back depends on the similar ones."""
_WORDINGS = f"""
SELECT f.grp, f.kind, f.subject, f.claim, f.text, f.terms, f.scope, max({PLAIN}), min(t.time), f.fact
FROM narrator_fact f JOIN narrator_seen s USING (fact) JOIN narrator_turn t USING (seq)
WHERE f.grp IN (SELECT unnest(?::BIGINT[])) AND NOT s.opposes GROUP BY ALL ORDER BY f.grp, min(t.time), f.fact
"""  # noqa: S608 - our own words
_EPISODES = """
SELECT grp, list(id ORDER BY time DESC, id DESC)[1:200] FROM (
    SELECT DISTINCT f.grp, e.id, e.time FROM narrator_fact f JOIN narrator_seen s USING (fact)
    JOIN episode e ON e.seq = s.seq
    WHERE f.grp IN (SELECT unnest(?::BIGINT[])) AND NOT s.opposes
) GROUP BY grp
"""
_MOST_CLAIMS = 50
_PIECE = 1_000


def how_sure(kind: FactKind, tally: Tally, now: float) -> tuple[float, tuple[ConfidencePart, ...]]:
    """Return how sure a fact is, and the parts that it is the product of."""
    return confidence.of(kind, tally, now)


def touch_competitors(tables: NarratorTables, table: str) -> None:
    """Mark for rating again the facts that compete with, or are similar to, those of a table; the caller writes."""
    tables.cursor.execute(_COMPETITORS.format(table=table))
    tables.cursor.execute(_WITHOUT.format(table=table))
    tables.cursor.execute(_NEAR.format(table=table))


def rate(tables: NarratorTables, reading: str, now: float, cancel: Cancel) -> None:
    """Compute the confidence of changed facts and of those that compete with them.

    Raises ReadAnewError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    import numpy as np

    # A statement may be certain after one mention; a habit shown in few sessions never is.
    may_be = f"(sessions > 2 OR (kind IN ({_COMPETING}) AND (occasions > 1 OR weight >= {_ALONE})))"
    found = tables.rows(_TALLY.format(where=f"NOT rated AND claim <> '' AND {may_be}"))
    rated: dict[int, float] = {}
    for row in found:
        rated[row[0]] = how_sure(row[1], _tally(row), now)[0]
        if len(rated) % _PIECE == 0:
            cancel.check()
    columns = {"grp": np.array(list(rated), np.int64), "sure": np.array(list(rated.values()), np.float64)}
    with tables.writing(), tables.given("rated_groups", columns):
        tables.check(reading)
        tables.cursor.execute(
            "UPDATE narrator_group SET confidence = coalesce(r.sure, 0), rated = true FROM "
            "(SELECT g.grp, r.sure FROM narrator_group g LEFT JOIN rated_groups r USING (grp) WHERE NOT g.rated) r "
            "WHERE narrator_group.grp = r.grp"
        )


def candidates(tables: NarratorTables, least: float) -> list[Candidate]:
    """Return the facts with a minimum confidence at their last weighing, without evidence."""
    where = "confidence >= ? AND claim <> '' ORDER BY confidence DESC, grp LIMIT ?"
    rows = tables.rows(_TALLY.format(where=where), [least, MOST])
    tallies = {row[0]: _tally(row) for row in rows}
    groups = list(tallies)
    wordings: dict[int, list[tuple[object, ...]]] = {}
    for row in tables.rows(_WORDINGS, [groups]):
        wordings.setdefault(row[0], []).append(row[1:])
    episodes = dict(tables.rows(_EPISODES, [groups]))
    found = [
        _candidate(wordings[group], tallies[group], tuple(episodes.get(group, ())))
        for group in groups
        if group in wordings
    ]
    return without_overlaps(found)


def _candidate(wordings: Sequence[tuple[Any, ...]], tally: Tally, episodes: tuple[str, ...]) -> Candidate:
    kind, subject, claim, *_ = wordings[0]
    # The plainest wordings; of equally plain ones the first.
    _, _, _, text, terms, scope, *_ = max(wordings, key=lambda one: one[6])
    claims = tuple(dict.fromkeys(claim_digest(one[0], one[1], one[2]) for one in wordings))[:_MOST_CLAIMS]
    words = tuple(terms.split())
    return Candidate(kind, subject, claim, claims, text, words, scope, tally, (), episodes)


def claim_digest(kind: str, subject: str, claim: str) -> str:
    """Return what names a claim, whichever way it was come by."""
    return f"{number_of('said' if kind in WORDED else kind, subject, claim):016x}"


def key_of(candidate: Candidate) -> int:
    """Return what names a fact: its group in the tables."""
    return number_of(candidate.kind, candidate.subject, candidate.claim)


def seen_in(tables: NarratorTables, group: int) -> tuple[frozenset[int], list[int]]:
    """Return the wordings of a fact, and the seqs of its episodes, the newest first."""
    rows = tables.rows(
        "SELECT DISTINCT s.fact, s.seq, t.time FROM narrator_fact f JOIN narrator_seen s USING (fact) "
        "JOIN narrator_turn t USING (seq) WHERE f.grp = ? AND NOT s.opposes ORDER BY t.time DESC, s.seq DESC",
        [group],
    )
    return frozenset(row[0] for row in rows), list(dict.fromkeys(row[1] for row in rows))


def _tally(row: Sequence[Any]) -> Tally:
    _, _, support, sessions, opposed, first, last, last_opposed, weight, speakers, others, is_alike, occasions = row
    mine = {one for one in speakers.split("\n") if one}
    theirs = {one for one in others.split("\n") if one} - mine
    return Tally(
        support,
        sessions,
        opposed,
        first,
        last,
        last_opposed,
        weight,
        max(1, len(mine)),
        len(theirs),
        is_alike,
        occasions,
    )
