"""Known facts in notes and entries, and their relation to a new fact.

A written sentence is compared with a fact by the words of both: `same = |both| / |either|`, and `held = |both| /
|fact's|`. From these follows, in this order, for the sentence with most in common:

| relation | is given when |
|---|---|
| contradicts | one affirms and the other denies, and `held >= 0.7` without the words of denial; or only the text in
backticks differs | | redundant | `same >= 0.75`, or `held >= 0.9` in a sentence that is not much longer; or it has the
same command | | reinforces | `same >= 0.45`, or `held >= 0.9`, and nothing in backticks differs | | new | otherwise |
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from cm_tui.engine.memory.narrator.candidate import Candidate
from cm_tui.engine.memory.narrator.known_lines import KnownLines
from cm_tui.engine.memory.narrator.tables import NarratorTables, number_of
from cm_tui.engine.memory.narrator.wording import polarity
from cm_tui.engine.memory.narrator.words import code_of, terms_of
from cm_tui.engine.platform.redaction.redact import redact
from cm_tui.model import Relation

_NEAREST = 12
"""Sentences to compare with a fact: those with most of its words."""
_SHARE = 0.4
"""So many of a fact's words a sentence has to have, to be compared with it."""
_COMMON = 0.05
"""Share of sentences from which on a word is too common for finding one."""
_FEW = 2_000
"""Of so many sentences, no word is too common."""
_DENIED, _SAME, _HELD, _LIKE = 0.7, 0.75, 0.9, 0.45
_LONGER = 1.6
_COMMANDS = frozenset({"command", "workflow", "fix"})
"""Kinds for which the code is authoritative."""
_NEAR = """
WITH near AS (
    SELECT w.fact, l.number, sum(w.share) AS share FROM wanted_terms w JOIN narrator_line_term l USING (term)
    GROUP BY w.fact, l.number HAVING sum(w.share) >= ?
    QUALIFY row_number() OVER (PARTITION BY w.fact ORDER BY sum(w.share) DESC, l.number) <= ?
)
SELECT fact, text, note, line FROM near JOIN narrator_line USING (number) ORDER BY fact, share DESC, number
"""
"""One statement, so that words and sentences are of the same moment while another thread writes."""


class Standing(NamedTuple):
    """Relation of a fact to known ones."""

    relation: Relation = "new"
    other: str = ""
    place: str = ""


class Known:
    """The content of notes and entries."""

    def __init__(self, root: Path, tables: NarratorTables) -> None:
        self._tables = tables
        self._lines = KnownLines(root, tables)
        self._sign = ""
        self._standing: dict[tuple[str, str], Standing] = {}

    def follow(self, seconds: float = -1) -> str:
        """Read changes; return a change stamp.

        `seconds`: as for the lines. Raises StoreError if a file of entries cannot be read, or the store not be written.
        """
        sign = self._lines.follow(seconds)
        if sign != self._sign:
            self._sign, self._standing = sign, {}
        return sign

    def relations(self, facts: Sequence[Candidate]) -> list[Standing]:
        """Return how facts stand to what is known, in their order."""
        # Another thread may replace it when a note has changed.
        standing = self._standing
        unknown = list({(one.kind, one.text): one for one in facts if (one.kind, one.text) not in standing}.items())
        near = self._near([one.text for _, one in unknown])
        for place, (key, one) in enumerate(unknown):
            standing[key] = _standing(one, near.get(place, ()))
        return [standing[one.kind, one.text] for one in facts]

    def _near(self, texts: Sequence[str]) -> dict[int, list[tuple[str, str]]]:
        """Return, for each of some texts, the sentences with most of its words, and their places."""
        import numpy as np

        terms = [{number_of(term) for term in terms_of(text)} for text in texts]
        every = sorted(set().union(*terms)) if terms else []
        total = self._tables.rows("SELECT count(*) FROM narrator_line")[0][0]
        if not every or not total:
            return {}
        with self._tables.given("every_term", {"term": np.array(every, np.int64)}):
            sql = "SELECT term, count(*) FROM narrator_line_term SEMI JOIN every_term USING (term) GROUP BY term"
            times = dict(self._tables.rows(sql))
        rows = []
        for place, found in enumerate(terms):
            rare = sorted(found, key=lambda term: (times.get(term, 0), term))
            kept = [term for term in rare if times.get(term, 0) <= max(_FEW, total * _COMMON)] or rare[:2]
            rows += [(place, term, 1 / len(kept)) for term in kept if times.get(term)]
        if not rows:
            return {}
        columns = {
            "fact": np.array([row[0] for row in rows], np.int32),
            "term": np.array([row[1] for row in rows], np.int64),
            "share": np.array([row[2] for row in rows], np.float64),
        }
        with self._tables.given("wanted_terms", columns):
            nearest = self._tables.rows(_NEAR, [_SHARE, _NEAREST])
        near: dict[int, list[tuple[str, str]]] = {}
        for place, text, note, line in nearest:
            near.setdefault(place, []).append((text, note if note.startswith("entry/") else f"{note}:{line}"))
        return near


def _standing(fact: Candidate, near: Sequence[tuple[str, str]]) -> Standing:
    ranks: dict[Relation, int] = {"contradicts": 0, "redundant": 1, "reinforces": 2, "new": 3}
    best, most = Standing(), (3, 0.0)
    for text, place in near:
        relation, common = compare(fact.kind, fact.text, text)
        if relation != "new" and (ranks[relation], -common) < most:
            best, most = Standing(relation, redact(text).text, place), (ranks[relation], -common)
    return best


def compare(kind: str, fact: str, known: str) -> tuple[Relation, float]:
    """Return the relation of a fact to a sentence, and how many words they have in common."""
    mine, theirs = terms_of(fact), terms_of(known)
    both, either = len(mine & theirs), len(mine | theirs)
    if not both:
        return "new", 0.0
    same, held = both / either, both / len(mine)
    code, known_code = set(code_of(fact)), set(code_of(known))
    if kind in _COMMANDS and code and code <= known_code:
        return "redundant", 1.0
    if polarity(fact) != polarity(known):
        return ("contradicts", same) if held >= _DENIED else ("new", same)
    if code and known_code and not code & known_code:
        plain, known_plain = (frozenset(one for one in terms if one[0] != "`") for terms in (mine, theirs))
        shared = len(plain & known_plain)
        # The statements are about different things.
        return ("contradicts", same) if shared >= 2 and shared / len(plain | known_plain) >= _SAME else ("new", same)
    if same >= _SAME or (held >= _HELD and len(theirs) <= _LONGER * len(mine)):
        return ("redundant", same) if code <= known_code or not code else ("reinforces", same)
    return ("reinforces" if same >= _LIKE or held >= _HELD else "new"), same
