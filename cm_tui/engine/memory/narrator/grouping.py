"""Grouping wordings into facts, in the order in which they were first said; existing groups stay as they are.

Each wording is embedded once. If the order has changed (an earlier one was found, or one was forgotten), all wordings
are grouped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from cm_tui.engine.memory.narrator.alike import Group, Wording, grouped
from cm_tui.engine.memory.narrator.cues import lasting
from cm_tui.engine.memory.narrator.tables import WORDED_SQL, NarratorTables, number_of
from cm_tui.engine.memory.narrator.wording import code_of
from cm_tui.model import Cancel

Embed = Callable[[Sequence[str]], Any]
"""Turns texts into unit vectors, one row each; None: no model."""
_WORDINGS = f"""
SELECT f.fact, f.grp, f.kind, f.subject, f.claim, f.text, f.terms, f.scope, f.topic, f.since, min(t.time),
    coalesce(string_agg(DISTINCT s.speaker, chr(10)) FILTER (s.speaker <> ''), '')
FROM narrator_fact f JOIN narrator_seen s USING (fact) JOIN narrator_turn t USING (seq)
WHERE f.kind IN ({WORDED_SQL}) AND NOT s.opposes
GROUP BY ALL ORDER BY min(t.time), f.fact
"""  # noqa: S608 - our own words
_PIECE = 4_096
"""Texts that get their vectors at once."""
_UNRATED = "UPDATE narrator_group SET rated = false WHERE rated AND grp IN"


class _Row(NamedTuple):
    fact: int
    grp: int
    kind: str
    subject: str
    claim: str
    text: str
    terms: str
    scope: str
    topic: int
    since: float
    time: float
    speakers: str

    @property
    def number(self) -> int:
        """Return the key of a fact with this as its first wording."""
        return number_of(self.kind, self.subject, self.claim)


class Regrouped(NamedTuple):
    """Changes in the grouping.

    Attributes:
        rows: of wordings: fact, group, topic, time of the first mention, and what its vector adds to how lasting it
            sounds.
        near: pairs of groups that may mean the same.
        is_anew: all wordings were grouped again.
        by_words: there was no model: wordings were compared by their words alone.
    """

    rows: Sequence[tuple[int, int, int, float, float]] = ()
    near: Sequence[tuple[int, int]] = ()
    is_anew: bool = False
    by_words: bool = False


def regrouped(tables: NarratorTables, embed: Embed, cancel: Cancel) -> Regrouped:
    """Group wordings into facts; only vectors are written."""
    rows = [_Row(*row) for row in tables.rows(_WORDINGS)]
    known = _known(rows)
    if len(known) == len(rows):
        return Regrouped()
    wordings = [_wording(row.fact, row.text, row.terms, row.time, row.scope, row.speakers) for row in rows]
    firsts = list(dict.fromkeys(known))
    places = {first: place for place, first in enumerate(firsts)}
    vectors = _vectors(tables, rows, embed, cancel)
    cancel.check()
    groups = grouped(wordings, vectors, [places[first] for first in known], [rows[first].topic for first in firsts])
    numbers = [rows[group.rows[0]].number for group in groups]
    near = [(numbers[place], numbers[other]) for place, group in enumerate(groups) for other in sorted(group.near)]
    changed = list(_changed(rows, groups, _senses(vectors, len(rows))))
    return Regrouped(changed, near, not known, vectors is None)


@lru_cache(maxsize=1 << 14)
def _wording(fact: int, text: str, terms: str, time: float, scope: str, speakers: str) -> Wording:
    said_by = frozenset(filter(None, speakers.split("\n")))
    return Wording(fact, text, frozenset(terms.split()), time, scope == "user", frozenset(code_of(text)), said_by)


def _known(rows: Sequence[_Row]) -> list[int]:
    """Return the indexes of the first wordings of unchanged facts, up to the first changed one."""
    firsts: dict[int, int] = {}
    found: list[int] = []
    for place, row in enumerate(rows):
        if not row.grp or row.since != row.time:
            break
        if row.grp not in firsts:
            if row.number != row.grp:
                return []
            firsts[row.grp] = place
        found.append(firsts[row.grp])
    # Facts after the first new wording were grouped without it.
    return found if not any(row.grp for row in rows[len(found) :]) else []


def _senses(vectors: Any, count: int) -> list[float]:
    """Return the vectors' contributions to how lasting wordings sound; empty: no vectors."""
    if vectors is None or not count:
        return [0.0] * count
    import numpy as np

    learned = lasting()
    found: list[float] = (vectors @ np.array(learned.sense, np.float32) + learned.sense_bias).tolist()
    return found


def _changed(
    rows: Sequence[_Row], groups: Sequence[Group], senses: Sequence[float]
) -> Iterator[tuple[int, int, int, float, float]]:
    for group in groups:
        number = rows[group.rows[0]].number
        for place in group.rows:
            row = rows[place]
            if (row.grp, row.topic, row.since) != (number, group.topic, row.time):
                yield row.fact, number, group.topic, row.time, senses[place]


def _vectors(tables: NarratorTables, rows: Sequence[_Row], embed: Embed, cancel: Cancel) -> Any:
    """Return vectors of wordings, a row each, computing and storing missing ones. None: no model."""
    import numpy as np

    vectors: dict[int, bytes] = dict(tables.rows("SELECT fact, vector FROM narrator_vector"))
    missing = [row for row in rows if row.fact not in vectors]
    for start in range(0, len(missing), _PIECE):
        cancel.check()
        piece = missing[start : start + _PIECE]
        made = embed([row.text for row in piece])
        if made is None:
            return None
        new = [(row.fact, np.asarray(one, np.float32).tobytes()) for row, one in zip(piece, made, strict=True)]
        with tables.writing():
            tables.insert("narrator_vector", "fact int64, vector binary", new)
        vectors.update(new)
    whole = b"".join(vectors[row.fact] for row in rows)
    return np.frombuffer(whole, np.float32).reshape(len(rows), -1)


def put_groups(tables: NarratorTables, found: Regrouped) -> None:
    """Assign wordings to facts, and mark changed facts for weighing; the caller writes."""
    if found.is_anew:
        # A fact that was near another may be separate now.
        tables.cursor.execute(f"{_UNRATED} (SELECT one FROM narrator_near)")  # noqa: S608 - our own words
        tables.cursor.execute("DELETE FROM narrator_near")
    columns = "fact int64, grp int64, topic int64, since float64, sense float64"
    with tables.given("regrouped", columns, found.rows):
        tables.cursor.execute(
            "INSERT INTO narrator_touched SELECT DISTINCT f.grp FROM narrator_fact f SEMI JOIN regrouped USING (fact) "
            "UNION SELECT grp FROM regrouped"
        )
        tables.cursor.execute(
            "UPDATE narrator_fact SET grp = r.grp, topic = r.topic, since = r.since, sense = r.sense FROM regrouped r "
            "WHERE narrator_fact.fact = r.fact"
        )
    with tables.given("near_groups", "one int64, other int64", found.near):
        tables.cursor.execute(
            "INSERT INTO narrator_near SELECT one, other FROM near_groups UNION SELECT other, one FROM near_groups"
        )
        # Which of two near ones is separate depends on both.
        tables.cursor.execute(f"{_UNRATED} (SELECT unnest([one, other]) FROM near_groups)")  # noqa: S608 - our own words
