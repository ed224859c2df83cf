"""Writing observations of episodes into the tables, in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from cm_tui.engine.memory.narrator.looking import Fact, Seen
from cm_tui.engine.memory.narrator.tables import NarratorTables, number_of

WORDED = frozenset({"statement", "decision", "rejected", "correction"})
"""Kinds in which several wordings may be one fact; in others, only equal ones are."""


PLAIN = (
    "CASE WHEN f.sense = 0 THEN s.weight ELSE 1 / (1 + exp(-(f.sense + "
    "ln(greatest(s.weight, 0.000001) / (1 - least(s.weight, 0.999999)))))) END"
)
"""Plainness of a wording: from its miner, plus the contribution of its vector."""


def put_seen(tables: NarratorTables, reading: str, seen: Seen) -> None:
    """Replace the observations of episodes.

    Raises ReadAnewError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    import numpy as np

    items = seen.items
    keys = list(seen.rows)
    said = [seen.rows[key] for key in keys]
    with tables.writing():
        tables.check(reading)
        _remove(tables, [item.seq for item in items])
        turns = {
            "seq": np.array([item.seq for item in items], np.int32),
            "earlier": np.array([item.earlier for item in items], np.int32),
            "conversation": np.array([item.session for item in items], np.int64),
            "time": np.array([item.time for item in items], np.float64),
            "prompt": np.array([seen.prompts.get(item.seq, 0) for item in items], np.int64),
        }
        with tables.given("new_turns", turns):
            tables.cursor.execute("INSERT INTO narrator_turn SELECT * FROM new_turns")
        if not keys:
            return
        _put_facts(tables, seen)
        rows = {
            "fact": np.array([key[0] for key in keys], np.int64),
            "seq": np.array([key[1] for key in keys], np.int32),
            "weight": np.array([one[0] for one in said], np.float32),
            "opposes": np.array([key[2] for key in keys], np.int8),
            "speaker": [one[1] for one in said],
        }
        with tables.given("new_seen", rows):
            tables.cursor.execute("INSERT INTO narrator_seen SELECT * FROM new_seen")
            tables.cursor.execute(
                "INSERT INTO narrator_touched SELECT DISTINCT grp FROM narrator_fact SEMI JOIN new_seen USING (fact)"
            )


def remove_gone(tables: NarratorTables, reading: str, seqs: Sequence[int]) -> None:
    """Remove the observations of episodes that are no longer visible.

    Raises ReadAnewError if the journal was reread meanwhile; StoreError if the store cannot be written.
    """
    with tables.writing():
        tables.check(reading)
        _remove(tables, seqs)


def _remove(tables: NarratorTables, seqs: Sequence[int]) -> None:
    import numpy as np

    with tables.given("gone_turns", {"seq": np.array(seqs, np.int32)}):
        if not tables.rows("SELECT 1 FROM narrator_turn SEMI JOIN gone_turns USING (seq) LIMIT 1"):
            return
        tables.cursor.execute(
            "INSERT INTO narrator_touched SELECT DISTINCT grp FROM narrator_fact WHERE fact IN "
            "(SELECT fact FROM narrator_seen SEMI JOIN gone_turns USING (seq))"
        )
        for table in ("narrator_seen", "narrator_turn"):
            tables.cursor.execute(f"DELETE FROM {table} WHERE seq IN (SELECT seq FROM gone_turns)")  # noqa: S608 - our own names


def _put_facts(tables: NarratorTables, seen: Seen) -> None:
    import numpy as np

    facts = list(seen.facts.values())
    columns = {name: [getattr(one, name) for one in facts] for name in Fact._fields}
    numbers = {
        "fact": np.array(list(seen.facts), np.int64),
        # Facts with several wordings are determined when all are there.
        "grp": np.array(
            [0 if one.kind in WORDED else number_of(one.kind, one.subject, one.claim) for one in facts], np.int64
        ),
    }
    with tables.given("new_facts", {**columns, **numbers}):
        names = ", ".join(("fact", *Fact._fields, "grp"))
        sql = f"INSERT INTO narrator_fact SELECT {names}, 0, 0, 0 FROM new_facts ANTI JOIN narrator_fact USING (fact)"  # noqa: S608 - our own names
        tables.cursor.execute(sql)
