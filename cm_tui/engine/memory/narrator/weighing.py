"""Weighing facts: grouping wordings, and combining the observations of each fact.

Only facts touched by a pass are weighed again. Wordings are grouped in the order of their first mentions, so that the
result does not depend on the reading order.
"""

from __future__ import annotations

from cm_tui.engine.memory.narrator import candidates
from cm_tui.engine.memory.narrator.grouping import Embed, put_groups, regrouped
from cm_tui.engine.memory.narrator.seen_rows import PLAIN, WORDED
from cm_tui.engine.memory.narrator.tables import NarratorTables
from cm_tui.model import Cancel

_FIRST = "struct_pack(t := t.time, f := f.fact)"
_WORDED = ", ".join(f"'{kind}'" for kind in sorted(WORDED))
_FRESH = f"""
CREATE OR REPLACE TEMP TABLE fresh_group AS
WITH fresh AS (
    SELECT f.grp, arg_min(f.kind, {_FIRST}) AS kind,
        CASE WHEN max(f.topic) <> 0 THEN max(f.topic)::VARCHAR ELSE arg_min(f.subject, {_FIRST}) END AS subject,
        arg_min(f.claim, {_FIRST}) AS claim,
        count(DISTINCT s.seq) FILTER (NOT s.opposes) AS support,
        count(DISTINCT t.session) FILTER (NOT s.opposes) AS sessions,
        CASE WHEN arg_min(f.kind, {_FIRST}) IN ({_WORDED})
            THEN count(DISTINCT coalesce(nullif(t.prompt, 0), t.session)) FILTER (NOT s.opposes)
            ELSE count(DISTINCT t.session) FILTER (NOT s.opposes) END AS occasions,
        count(DISTINCT s.seq) FILTER (s.opposes) AS opposed,
        min(t.time) FILTER (NOT s.opposes) AS first, max(t.time) FILTER (NOT s.opposes) AS last,
        coalesce(max(t.time) FILTER (s.opposes), 0) AS last_opposed, max({PLAIN}) FILTER (NOT s.opposes) AS weight,
        coalesce(string_agg(DISTINCT s.speaker, chr(10) ORDER BY s.speaker)
            FILTER (NOT s.opposes AND s.speaker <> ''), '') AS speakers
    FROM narrator_seen s JOIN narrator_fact f USING (fact) JOIN narrator_turn t USING (seq)
    WHERE f.grp IN (SELECT grp FROM narrator_touched)
    GROUP BY f.grp HAVING count(*) FILTER (NOT s.opposes) > 0
)
SELECT fresh.*, coalesce(g.confidence, 0) AS confidence, false AS rated
FROM fresh LEFT JOIN narrator_group g ON g.grp = fresh.grp
"""  # noqa: S608 - our own words


def is_due(tables: NarratorTables) -> bool:
    """Return whether anything has to be weighed again."""
    return bool(
        tables.rows(
            "(SELECT 1 FROM narrator_touched LIMIT 1) UNION (SELECT 1 FROM narrator_group WHERE NOT rated LIMIT 1)"
        )
    )


def weigh(tables: NarratorTables, reading: str, embed: Embed, cancel: Cancel, now: float) -> bool:
    """Weigh changed facts again, in short transactions; after a crash, it goes on at the next one.

    Returns whether wordings were compared by their words alone, as the model is missing. Raises ReadAnewError if the
    journal was reread meanwhile; StoreError if the store cannot be written.
    """
    by_words = False
    if tables.rows("SELECT 1 FROM narrator_touched LIMIT 1"):
        with tables.writing():
            tables.check(reading)
            _drop_unseen(tables)
        found = regrouped(tables, embed, cancel)
        by_words = found.by_words
        with tables.writing():
            tables.check(reading)
            put_groups(tables, found)
        tables.cursor.execute(_FRESH)
        cancel.check()
        with tables.writing():
            tables.check(reading)
            candidates.touch_competitors(tables, "narrator_touched")
            tables.cursor.execute("DELETE FROM narrator_group WHERE grp IN (SELECT grp FROM narrator_touched)")
            tables.cursor.execute("INSERT INTO narrator_group SELECT * FROM fresh_group")
            candidates.touch_competitors(tables, "fresh_group")
            tables.cursor.execute("DELETE FROM narrator_touched")
        tables.cursor.execute("DROP TABLE fresh_group")
    candidates.rate(tables, reading, now, cancel)
    return by_words


def _drop_unseen(tables: NarratorTables) -> None:
    unseen = "grp IN (SELECT grp FROM narrator_touched) AND fact NOT IN (SELECT fact FROM narrator_seen)"
    # Wordings after a removed one were grouped with it, and have to be grouped again.
    tables.cursor.execute(
        f"UPDATE narrator_fact SET since = 0 WHERE kind IN ({_WORDED}) AND since >= "  # noqa: S608 - our own words
        f"(SELECT min(since) FROM narrator_fact WHERE kind IN ({_WORDED}) AND grp <> 0 AND {unseen})"
    )
    tables.cursor.execute(f"DELETE FROM narrator_fact WHERE {unseen}")  # noqa: S608 - our own words
    tables.cursor.execute("DELETE FROM narrator_vector WHERE fact NOT IN (SELECT fact FROM narrator_fact)")
