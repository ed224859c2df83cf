"""Grouping wordings into facts, in the order in which they were first said; existing groups stay as they are.

Each wording is embedded once. New ones are compared only with the facts that may mean the same. If the order has changed
(an earlier one was found, or one was forgotten), all wordings are grouped again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cm_tui.engine.memory.narrator.alike import ALONE_COSINE, MOST_POSTINGS, Group, Wording, grouped
from cm_tui.engine.memory.narrator.cues import explicit_cues, is_foreign, lasting
from cm_tui.engine.memory.narrator.tables import WORDED_SQL, NarratorTables, number_of
from cm_tui.engine.memory.narrator.wording import code_of
from cm_tui.model import Cancel

Embed = Callable[[Sequence[str]], Any]
"""Turns texts into unit vectors, one row each; None: no model."""
_WORDINGS = f"""
WITH facts AS MATERIALIZED (SELECT * FROM narrator_fact f WHERE f.kind IN ({WORDED_SQL}) AND ({{where}}))
SELECT fact, grp, kind, subject, claim, text, terms, scope, topic, since, time, speakers FROM facts JOIN (
    SELECT f.fact, min(t.time) AS time, coalesce(string_agg(DISTINCT s.speaker, chr(10)) FILTER (s.speaker <> ''), '') AS speakers
    FROM facts f JOIN narrator_seen s USING (fact) JOIN narrator_turn t USING (seq) WHERE NOT s.opposes GROUP BY f.fact
) USING (fact) ORDER BY time, fact
"""  # noqa: S608 - our own words
_LAST = f"""
SELECT min(since) > 0, max(struct_pack(t := since, f := fact)) FROM narrator_fact
WHERE kind IN ({WORDED_SQL}) AND grp <> 0
"""  # noqa: S608 - our own words
_POSTINGS = f"""
SELECT term, list(fact) FROM (
    SELECT fact, unnest(string_split(terms, ' ')) AS term FROM narrator_fact WHERE kind IN ({WORDED_SQL}) AND grp <> 0
) WHERE term IN (SELECT unnest(?::VARCHAR[])) GROUP BY term
"""  # noqa: S608 - our own words
_RELATED = """
f.fact IN (SELECT fact FROM near_facts) OR f.grp IN (SELECT grp FROM narrator_fact SEMI JOIN near_facts USING (fact))
OR (f.topic <> 0 AND f.topic IN (SELECT topic FROM narrator_fact SEMI JOIN near_facts USING (fact)))
"""
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
    touched = _rows(tables, "f.grp IN (SELECT grp FROM narrator_touched)")
    new = [row for row in touched if not row.grp]
    ((are_grouped, last),) = tables.rows(_LAST)
    is_same = are_grouped is not False and all(row.since == row.time for row in touched if row.grp)
    if is_same and not new:
        return Regrouped()
    is_anew = not is_same or (last is not None and (new[0].time, new[0].fact) <= (last["t"], last["f"]))
    rows = _rows(tables, "true") if is_anew else new
    vectors = _vectors(tables, rows, embed, cancel)
    common: frozenset[str] = frozenset()
    if not is_anew:
        rows, common = _related(tables, new, vectors)
        # Earlier ones have none if they were grouped without a model.
        vectors = vectors and _vectors(tables, rows, embed, cancel)
    cancel.check()
    places: dict[int, int] = {}
    known = [] if is_anew else [places.setdefault(row.grp, len(places)) for row in rows if row.grp]
    topics = [rows[known.index(place)].topic for place in places.values()]
    matrix = None if vectors is None else _matrix(vectors, rows)
    groups = grouped(list(map(_wording, rows)), matrix, known, topics, common)
    numbers = [rows[group.rows[0]].number for group in groups]
    near = [(numbers[place], numbers[other]) for place, group in enumerate(groups) for other in sorted(group.near)]
    changed = list(_changed(rows, groups, _senses(matrix, rows)))
    return Regrouped(changed, near, is_anew, vectors is None)


def _rows(tables: NarratorTables, where: str) -> list[_Row]:
    """Return wordings in the order of their first mentions."""
    return [_Row(*row) for row in tables.rows(_WORDINGS.format(where=where))]


def _related(
    tables: NarratorTables, new: Sequence[_Row], vectors: Mapping[int, bytes] | None
) -> tuple[list[_Row], frozenset[str]]:
    """Return new wordings behind those of all facts that they may be compared with; and their too common words."""
    found = tables.rows(_POSTINGS, [list({term for row in new for term in row.terms.split()})])
    common = frozenset(term for term, facts in found if len(facts) > MOST_POSTINGS)
    near = {fact for term, facts in found if term not in common for fact in facts} | {row.fact for row in new}
    if vectors is not None:
        import numpy as np

        every = np.frombuffer(b"".join(vectors.values()), np.float32).reshape(len(vectors), -1)
        hits = (_matrix(vectors, new) @ every.T >= ALONE_COSINE).any(axis=0)
        near.update(fact for fact, is_near in zip(vectors, hits.tolist(), strict=True) if is_near)
    with tables.given("near_facts", "fact int64", [(fact,) for fact in near]):
        return _rows(tables, _RELATED), common


def _wording(row: _Row) -> Wording:
    said_by = frozenset(filter(None, row.speakers.split("\n")))
    terms, code = frozenset(row.terms.split()), frozenset(code_of(row.text))
    return Wording(row.fact, row.text, terms, row.scope == "user", code, said_by, _is_foreign(row.text))


def _is_foreign(text: str) -> bool:
    return bool(explicit_cues(text)) or is_foreign(text)


def _senses(matrix: Any, rows: Sequence[_Row]) -> list[float]:
    """Return the vectors' contributions to how lasting wordings sound; 0 in other languages, where none is learned."""
    if matrix is None or not rows:
        return [0.0] * len(rows)
    import numpy as np

    learned = lasting()
    # Row by row: the last bits of a matrix product depend on the number of rows, and equal vectors would differ.
    found: list[float] = ((matrix * np.array(learned.sense)).sum(axis=1) + learned.sense_bias).tolist()
    return [0.0 if _is_foreign(row.text) else sense for row, sense in zip(rows, found, strict=True)]


def _changed(
    rows: Sequence[_Row], groups: Sequence[Group], senses: Sequence[float]
) -> Iterator[tuple[int, int, int, float, float]]:
    for group in groups:
        number = rows[group.rows[0]].number
        for place in group.rows:
            row = rows[place]
            if (row.grp, row.topic, row.since) != (number, group.topic, row.time):
                yield row.fact, number, group.topic, row.time, senses[place]


def _vectors(tables: NarratorTables, rows: Sequence[_Row], embed: Embed, cancel: Cancel) -> dict[int, bytes] | None:
    """Return the vectors of all wordings, computing and storing missing ones of some. None: no model."""
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
    return vectors


def _matrix(vectors: Mapping[int, bytes], rows: Sequence[_Row]) -> Any:
    """Return the vectors of wordings, a row each."""
    import numpy as np

    return np.frombuffer(b"".join(vectors[row.fact] for row in rows), np.float32).reshape(len(rows), -1)


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
