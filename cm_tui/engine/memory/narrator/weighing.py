"""Weighing facts: grouping wordings, and combining the observations of each fact.

Only facts touched by a pass are weighed again. Wordings are grouped in the order of their first mentions, so that the
result does not depend on the reading order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cm_tui.engine.memory.narrator import confidence
from cm_tui.engine.memory.narrator.confidence import Candidate, Tally
from cm_tui.engine.memory.narrator.grouping import Embed, put_groups, regrouped
from cm_tui.engine.memory.narrator.overlaps import without_overlaps
from cm_tui.engine.memory.narrator.tables import PLAIN, WORDED, WORDED_SQL, NarratorTables, number_of
from cm_tui.model import Cancel

_PLAINNESS = PLAIN.replace("f.sense", "sense").replace("s.weight", "weight")
_FRESH = f"""
CREATE OR REPLACE TEMP TABLE fresh_group AS
WITH facts AS MATERIALIZED (SELECT * FROM narrator_fact SEMI JOIN narrator_touched USING (grp)),
found AS MATERIALIZED (
    SELECT f.grp, s.fact, s.seq, s.opposes, s.weight, s.speaker, f.sense, t.session, t.time,
        CASE WHEN f.kind IN ({WORDED_SQL}) AND t.prompt <> 0 THEN t.prompt ELSE t.session END AS occasion
    FROM facts f JOIN narrator_seen s USING (fact) JOIN narrator_turn t USING (seq)
),
head AS (
    SELECT grp, arg_min(struct_pack(kind, subject, claim), struct_pack(time, fact)) AS one, max(topic) AS topic
    FROM facts JOIN (SELECT fact, min(time) AS time FROM found GROUP BY fact) USING (fact) GROUP BY grp
),
supported AS (
    SELECT grp, count(DISTINCT seq) AS support, count(DISTINCT session) AS sessions,
        count(DISTINCT occasion) AS occasions, min(time) AS first, max(time) AS last, max({_PLAINNESS}) AS weight
    FROM found WHERE NOT opposes GROUP BY grp
),
opposed AS (SELECT grp, count(DISTINCT seq) AS opposed, max(time) AS last FROM found WHERE opposes GROUP BY grp),
speakers AS (
    SELECT grp, string_agg(DISTINCT speaker, chr(10) ORDER BY speaker) AS speakers FROM found
    WHERE NOT opposes AND speaker <> '' GROUP BY grp
)
SELECT s.grp, one.kind AS kind, CASE WHEN topic <> 0 THEN topic::VARCHAR ELSE one.subject END AS subject,
    one.claim AS claim, s.support, s.sessions, s.occasions, coalesce(o.opposed, 0) AS opposed, s.first, s.last,
    coalesce(o.last, 0) AS last_opposed, s.weight, coalesce(p.speakers, '') AS speakers,
    coalesce(g.confidence, 0) AS confidence, false AS rated
FROM supported s JOIN head USING (grp) LEFT JOIN opposed o USING (grp) LEFT JOIN speakers p USING (grp)
LEFT JOIN narrator_group g USING (grp)
"""  # noqa: S608 - our own words
"""The distinct counts are taken of narrow rows, and the words of a fact once: most time goes into its observations."""
_CHANGED = """
CREATE OR REPLACE TEMP TABLE changed_group AS
SELECT grp, kind, subject, claim FROM narrator_group SEMI JOIN narrator_touched USING (grp)
UNION SELECT grp, kind, subject, claim FROM fresh_group
"""
"""As they were and as they are: the facts that compete with them, or are similar, are rated again."""


def is_due(tables: NarratorTables) -> bool:
    """Return whether anything has to be weighed again."""
    return bool(
        tables.rows(
            "(SELECT 1 FROM narrator_touched LIMIT 1) UNION (SELECT 1 FROM narrator_group WHERE NOT rated LIMIT 1)"
        )
    )


def weigh(tables: NarratorTables, reading: str, embed: Embed, cancel: Cancel, now: float) -> bool:
    """Weigh changed facts again, in short transactions; after a crash, it goes on at the next one.

    Returns whether wordings were compared by their words alone, as the model is missing. Raises JournalRereadError if the
    journal was reread meanwhile; StoreError if the store cannot be written.
    """
    by_words = False
    if tables.rows("SELECT 1 FROM narrator_touched LIMIT 1"):
        with tables.writing():
            tables.check(reading)
            _drop_unused(tables)
        found = regrouped(tables, embed, cancel)
        by_words = found.by_words
        with tables.writing():
            tables.check(reading)
            put_groups(tables, found)
        tables.cursor.execute(_FRESH)
        cancel.check()
        with tables.writing():
            tables.check(reading)
            tables.cursor.execute(_CHANGED)
            tables.cursor.execute("DELETE FROM narrator_group WHERE grp IN (SELECT grp FROM narrator_touched)")
            tables.cursor.execute("INSERT INTO narrator_group SELECT * FROM fresh_group")
            for update in (_COMPETITORS, _WITHOUT, _NEAR):
                tables.cursor.execute(update)
            known = tables.candidates(reading)
            for (group,) in tables.rows("DELETE FROM narrator_touched RETURNING grp"):
                known.pop(group, None)
        tables.cursor.execute("DROP TABLE fresh_group")
        tables.cursor.execute("DROP TABLE changed_group")
    rate(tables, reading, now, cancel)
    return by_words


def _drop_unused(tables: NarratorTables) -> None:
    """Remove wordings that were removed from all episodes; later ones were grouped with them, and are grouped again."""
    unseen = tables.rows(
        "SELECT fact FROM narrator_fact SEMI JOIN narrator_touched USING (grp) ANTI JOIN narrator_seen USING (fact)"
    )
    if not unseen:
        return
    with tables.given("unseen", "fact int64", unseen):
        tables.cursor.execute(
            f"UPDATE narrator_fact SET since = 0 WHERE kind IN ({WORDED_SQL}) AND since >= "  # noqa: S608 - our own words
            f"(SELECT min(since) FROM narrator_fact SEMI JOIN unseen USING (fact) WHERE kind IN ({WORDED_SQL}) AND grp <> 0)"
        )
        for table in ("narrator_fact", "narrator_vector"):
            tables.cursor.execute(f"DELETE FROM {table} WHERE fact IN (SELECT fact FROM unseen)")  # noqa: S608 - our own names


MOST = 1_000
"""The most facts to propose at once, the surest first. The next ones follow once these are decided."""
_ALONE = 0.86
"""Least plainness of a statement from a single session: half of those below were junk. A habit needs more than one."""
_LEAST_SESSIONS = 2
"""A habit shown in no more sessions than these is never proposed."""
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
    WHERE subject IN (SELECT subject FROM chosen WHERE subject <> '' AND kind IN ({WORDED_SQL}))
        AND kind IN ({WORDED_SQL})
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
    WHERE g.occasions = 1 AND o.weight >= {_PLAIN}
        AND (o.occasions > 1 OR o.weight > g.weight OR (o.weight = g.weight AND o.first < g.first))
        AND (o.subject = '' OR o.subject <> g.subject)
        AND (g.kind <> 'rejected' OR starts_with(o.claim, 'not '))
)
SELECT g.grp, g.kind, g.support, g.sessions, g.opposed + coalesce(o.said - g.support, 0) + coalesce(w.times, 0),
    g.first, g.last, greatest(g.last_opposed, coalesce(w.last, 0),
        coalesce(CASE WHEN o.lasts[1] = g.last THEN o.lasts[2] ELSE o.lasts[1] END, 0)), g.weight,
    g.speakers, coalesce(o.speakers, ''), h.grp IS NOT NULL, g.occasions
FROM chosen g LEFT JOIN subjects o ON o.subject = g.subject AND g.kind IN ({WORDED_SQL})
LEFT JOIN without w ON w.grp = g.grp
LEFT JOIN alike h ON h.grp = g.grp
"""  # noqa: S608 - our own words
_COMPETITORS = f"""
UPDATE narrator_group SET rated = false WHERE rated AND subject <> '' AND kind IN ({WORDED_SQL}) AND subject IN (
    SELECT subject FROM changed_group WHERE kind IN ({WORDED_SQL})
)
"""  # noqa: S608 - our own words
_WITHOUT = f"""
UPDATE narrator_group SET rated = false WHERE rated AND kind IN ({_COUNTED}) AND grp IN (
    SELECT p.grp FROM (
        SELECT grp, kind, unnest(string_split(subject, chr(10))) AS subject FROM narrator_group
        WHERE rated AND kind IN ({_COUNTED}) AND claim <> '' AND sessions > {_LEAST_SESSIONS}
    ) p SEMI JOIN (SELECT kind, subject FROM changed_group WHERE claim = '') b ON b.kind = p.kind AND b.subject = p.subject
)
"""  # noqa: S608 - our own words
_NEAR = """
UPDATE narrator_group SET rated = false WHERE rated AND grp IN (
    SELECT one FROM narrator_near WHERE other IN (SELECT grp FROM changed_group)
)
"""
"""Whether a fact said once is held back depends on the similar ones."""
_WORDINGS = f"""
WITH facts AS MATERIALIZED (SELECT * FROM narrator_fact WHERE grp IN (SELECT unnest(?::BIGINT[])))
SELECT grp, kind, subject, claim, text, terms, scope, coalesce(plain, 0) FROM facts LEFT JOIN (
    SELECT f.fact, max({PLAIN}) AS plain, min(t.time) AS time
    FROM facts f JOIN narrator_seen s USING (fact) JOIN narrator_turn t USING (seq)
    WHERE f.kind IN ({WORDED_SQL}) AND NOT s.opposes GROUP BY f.fact
) USING (fact) WHERE plain IS NOT NULL OR kind NOT IN ({WORDED_SQL}) ORDER BY grp, time, fact
"""  # noqa: S608 - our own words
_EPISODES = """
SELECT grp, list_transform(max(struct_pack(time, id), 200), lambda one: one.id) FROM (
    SELECT DISTINCT f.grp, s.seq FROM narrator_fact f JOIN narrator_seen s USING (fact)
    WHERE f.grp IN (SELECT unnest(?::BIGINT[])) AND NOT s.opposes
) JOIN episode USING (seq) GROUP BY grp
"""
_MOST_CLAIMS = 50
_PIECE = 1_000


def rate(tables: NarratorTables, reading: str, now: float, cancel: Cancel) -> None:
    """Compute the confidence of changed facts and of those that compete with them.

    Raises JournalRereadError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    # A statement may be certain after one mention; a habit shown in few sessions never is.
    may_be = f"(sessions > {_LEAST_SESSIONS} OR (kind IN ({WORDED_SQL}) AND (occasions > 1 OR weight >= {_ALONE})))"
    found = tables.rows(_TALLY.format(where=f"NOT rated AND claim <> '' AND {may_be}"))
    rated: list[tuple[int, float]] = []
    for row in found:
        rated.append((row[0], confidence.of(row[1], _tally(row), now)[0]))
        if len(rated) % _PIECE == 0:
            cancel.check()
    with tables.writing(), tables.given("rated_groups", "grp int64, sure float64", rated):
        tables.check(reading)
        tables.cursor.execute(
            "UPDATE narrator_group SET confidence = coalesce(r.sure, 0), rated = true FROM "
            "(SELECT g.grp, r.sure FROM narrator_group g LEFT JOIN rated_groups r USING (grp) WHERE NOT g.rated) r "
            "WHERE narrator_group.grp = r.grp"
        )


def candidates(tables: NarratorTables, least: float) -> list[Candidate]:
    """Return the facts with a minimum confidence at their last weighing, without evidence."""
    where = "confidence >= ? AND claim <> '' ORDER BY confidence DESC, grp LIMIT ?"
    tallies = {row[0]: _tally(row) for row in tables.rows(_TALLY.format(where=where), [least, MOST])}
    known = tables.candidates(tables.position().reading)
    missing = [group for group in tallies if group not in known]
    wordings: dict[int, list[tuple[object, ...]]] = {}
    for row in tables.rows(_WORDINGS, [missing]) if missing else ():
        wordings.setdefault(row[0], []).append(row[1:])
    episodes = dict(tables.rows(_EPISODES, [missing])) if missing else {}
    for group, said in wordings.items():
        known[group] = _candidate(said, tallies[group], tuple(episodes.get(group, ())))
    return without_overlaps([replace(known[group], tally=tally) for group, tally in tallies.items() if group in known])


def _candidate(wordings: Sequence[tuple[Any, ...]], tally: Tally, episodes: tuple[str, ...]) -> Candidate:
    kind, subject, claim, *_ = wordings[0]
    # The plainest wordings; of equally plain ones the first.
    _, _, _, text, terms, scope, *_ = max(wordings, key=lambda one: one[6])
    claims = tuple(dict.fromkeys(claim_digest(one[0], one[1], one[2]) for one in wordings))[:_MOST_CLAIMS]
    words = tuple(terms.split())
    return Candidate(kind, subject, claim, claims, text, words, scope, tally, episodes)


def claim_digest(kind: str, subject: str, claim: str) -> str:
    """Return what names a claim, whichever way it was come by."""
    return f"{number_of('said' if kind in WORDED else kind, subject, claim):016x}"


def key_of(candidate: Candidate) -> int:
    """Return what names a fact: its group in the tables."""
    return number_of(candidate.kind, candidate.subject, candidate.claim)


def occurrences_of(tables: NarratorTables, group: int) -> tuple[frozenset[int], list[int]]:
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
        support, sessions, opposed, first, last, last_opposed, weight, max(1, len(mine)), len(theirs), is_alike, occasions
    )  # fmt: skip
