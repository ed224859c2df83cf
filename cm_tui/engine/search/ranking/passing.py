"""Filters of queries in force: which passages of a project pass them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.filters import PLACES, Filter, ParsedQuery, Vocabulary
from cm_tui.engine.search.ranking.narrowed import Narrowed
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.retrieve import Ids
from cm_tui.engine.search.ranking.traits import roles
from cm_tui.lru import LRU
from cm_tui.model import CODE, Profile
from cm_tui.model.code import SYMBOL_KINDS

_KEPT = 16
"""Cached results: while words are typed, the filters before them stay the same."""
_SHOWN_LANGUAGES = 12


class _Passing(NamedTuple):
    """The passages that pass."""

    ids: Ids
    """In order of path and line where they are listed, else in no order."""
    notes: tuple[str, ...] = ()


class _Condition(NamedTuple):
    """SQL over a passage `p` and its blob `b`, with its parameters."""

    sql: str
    parameters: tuple[Any, ...] = ()

    def negated(self) -> _Condition:
        """Return the opposite."""
        return _Condition(f"NOT ({self.sql})", self.parameters)


class Filters:
    """Reads the filters of queries to one project. Safe to use from several threads.

    Args:
        db: the project's store.
        vocabulary: what filters can name there.
    """

    def __init__(self, db: Database, vocabulary: Vocabulary) -> None:
        self._db = db
        self._vocabulary = vocabulary
        self._kept: LRU[tuple[int, tuple[Filter, ...], bool], _Passing] = LRU(_KEPT)

    def parse(self, text: str) -> ParsedQuery:
        """Take a query apart into words and filters."""
        return self._vocabulary.parse(text)

    def read(self, query: Query, profile: Profile) -> Narrowed:
        """Parse the filters of a query, and find matching passages.

        Memories have no file, kind or language: they match no filter, and a profile that only searches memories has no
        filters.
        """
        if not searches_code(profile) or query.report is not None:
            # What looks like a filter in a pasted text is part of it.
            return Narrowed(query)
        asked = self.parse(query.cut)
        problems = [one.among(self._held()) if one.of_language else one for one in asked.problems]
        notes = [problem.words() for problem in problems]
        if not asked.filters:
            return Narrowed(query, notes=tuple(notes))
        words = Query(asked.words)
        is_listing = not words.terms
        ids, more = self._passing(asked.filters, in_order=is_listing)
        notes += more
        if is_listing and len(ids):
            notes.append(_of_listing(len(ids), profile.pool))
            ids = np.sort(ids[: profile.pool])
        return Narrowed(words, asked.filters, ids, kinds_of(asked.filters), is_listing, tuple(notes))

    def refusing(self, query: Query, profile: Profile, ids: Sequence[int]) -> tuple[Filter, ...]:
        """Return the filters of a query that match none of some passages; filters of one field count together."""
        if not searches_code(profile) or query.report is not None:
            return ()
        asked = self.parse(query.cut).filters
        fields = dict.fromkeys((one.field, one.out) for one in asked)
        for field, out in fields:
            same = tuple(one for one in asked if (one.field, one.out) == (field, out))
            if not np.isin(np.array(ids, dtype=np.int64), self._passing(same, in_order=False).ids).any():
                return same
        return asked if asked and not np.isin(ids, self._passing(asked, in_order=False).ids).any() else ()

    def _passing(self, filters: tuple[Filter, ...], *, in_order: bool) -> _Passing:
        with self._db.reading() as number:
            key = (number, filters, in_order)
            if (known := self._kept.get(key)) is not None:
                return known
            found = self._resolve(filters, in_order=in_order)
        self._kept.put(key, found)
        return found

    def _resolve(self, filters: Sequence[Filter], *, in_order: bool) -> _Passing:
        notes: list[str] = []
        conditions = [
            *self._paths(filters, notes),
            *_languages(filters, self._vocabulary.languages),
            *self._places(filters),
            *_kinds(filters),
        ]
        sql = (
            "SELECT p.id FROM passage p JOIN blob b ON b.id = p.blob WHERE p.source = ? AND "  # noqa: S608 - our own SQL
            f"{' AND '.join(f'({one.sql})' for one in conditions)}"
            f"{' ORDER BY p.path, p.start_line, p.end_line, p.id' if in_order else ''}"
        )
        parameters = [CODE, *(value for one in conditions for value in one.parameters)]
        rows: Any = self._db.cursor.execute(sql, parameters).fetchnumpy()
        ids = np.asarray(rows["id"], dtype=np.int64)
        if not len(ids) and not notes:
            notes.append(f"Nothing matches {' '.join(map(str, filters))}.")
        return _Passing(ids, tuple(notes))

    # --- paths ---

    def _paths(self, filters: Sequence[Filter], notes: list[str]) -> list[_Condition]:
        wanted = [self._path(one, notes) for one in filters if one.field == "path" and not one.out]
        unwanted = [self._path(one, notes).negated() for one in filters if one.field == "path" and one.out]
        return [*([_any_of(wanted)] if wanted else []), *unwanted]

    def _path(self, asked: Filter, notes: list[str]) -> _Condition:
        """Return the meaning of a path: an existing one, else a prefix, as while typing."""
        exact = _at(asked.value)
        if self._is_there(exact):
            return exact
        begun = _Condition("starts_with(p.path, ?)", (_storable(asked.value),))
        if "*" not in asked.value and self._is_there(begun):
            return begun
        elsewhere = replace(asked, value=f"**/{asked.value}")
        hint = f" {elsewhere} would match." if self._is_there(_at(elsewhere.value)) else ""
        notes.append(f"{asked}: no indexed file there.{hint}")
        return exact

    def _is_there(self, condition: _Condition) -> bool:
        sql = f"SELECT 1 FROM passage p WHERE p.source = ? AND ({condition.sql}) LIMIT 1"  # noqa: S608 - our own SQL
        return bool(self._db.rows(sql, [CODE, *condition.parameters]))

    def _places(self, filters: Sequence[Filter]) -> list[_Condition]:
        if not any(one.field == "in" for one in filters):
            return []
        wanted, unwanted = _accepted_values(filters, "in", PLACES)
        paths = [row[0] for row in self._db.rows("SELECT DISTINCT path FROM passage WHERE source = ?", [CODE])]
        # A file may be both tests and documentation; code is the rest.
        places = {path: roles(path).intersection(PLACES) or frozenset({"code"}) for path in paths}
        passing = {path for path, its in places.items() if its & wanted and not its & unwanted}
        # Most of a project is code: the shorter list is bound sooner.
        rest = [path for path in paths if path not in passing]
        among = _Condition("p.path IN (SELECT unnest(?::VARCHAR[]))", (min(list(passing), rest, key=len),))
        return [among if len(passing) <= len(rest) else among.negated()]

    def _held(self) -> list[str]:
        """Return the languages that the project has most of."""
        rows = self._db.rows(
            "SELECT b.language FROM passage p JOIN blob b ON b.id = p.blob GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ?",
            [_SHOWN_LANGUAGES],
        )
        return [row[0] for row in rows]


def searches_code(profile: Profile) -> bool:
    """Return whether a profile searches code, alone or with other sources."""
    return not profile.sources or CODE in profile.sources


def kinds_of(filters: Sequence[Filter]) -> frozenset[str] | None:
    """Return the kinds of symbols that filters accept; None: any."""
    if not any(one.field == "kind" for one in filters):
        return None
    wanted, unwanted = _accepted_values(filters, "kind", SYMBOL_KINDS)
    return wanted - unwanted


def _accepted_values(
    filters: Iterable[Filter], field: str, every: Iterable[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the accepted values of a field (default: all), and the excluded ones."""
    asked = [one for one in filters if one.field == field]
    wanted = frozenset(one.value for one in asked if not one.out) or frozenset(every)
    return wanted, frozenset(one.value for one in asked if one.out)


def _any_of(conditions: Sequence[_Condition]) -> _Condition:
    return _Condition(
        " OR ".join(f"({one.sql})" for one in conditions),
        tuple(value for one in conditions for value in one.parameters),
    )


def _at(path: str) -> _Condition:
    """A file, a folder with all below it, or a pattern of either."""
    plain = _storable(path)
    if plain == ".":
        return _Condition("true")
    if "*" not in plain:
        return _Condition("p.path = ? OR starts_with(p.path, ?)", (plain, f"{plain}/"))
    # RE2 takes time linear in the path for any pattern.
    return _Condition("regexp_full_match(p.path, ?, 's')", (_regex(plain),))


def _regex(pattern: str) -> str:
    """The expression of a pattern: `**` stands for any folders, `*` for no slash; without a slash it is a name."""
    steps = []
    for step in re.findall(r"\*\*+/|\*\*+|\*|[^*]+", pattern):
        if step.startswith("**"):
            steps.append("(?:.*/)?" if step.endswith("/") else ".*")
        else:
            steps.append("[^/]*" if step == "*" else re.escape(step))
    return f"{'' if '/' in pattern else '(?:.*/)?'}{''.join(steps)}(?:/.*)?"


def _storable(path: str) -> str:
    """A path as a parameter: no path has lone surrogates."""
    return path.encode("utf-8", "replace").decode()


def _languages(filters: Sequence[Filter], languages: Mapping[str, tuple[str, ...]]) -> list[_Condition]:
    wanted, unwanted = _accepted_values(filters, "lang", ())
    found = []
    for names, word in ((wanted, "IN"), (unwanted, "NOT IN")):
        if names:
            every = [language for name in names for language in languages.get(name, (name,))]
            found.append(_Condition(f"b.language {word} (SELECT unnest(?::VARCHAR[]))", (every,)))
    return found


_OWN = "SELECT q.id FROM passage q JOIN symbol s ON s.blob = q.blob AND s.idx = q.symbol"
_DEFINED = (
    "SELECT q.id FROM passage q JOIN symbol s ON s.blob = q.blob AND s.start_line BETWEEN q.start_line AND q.end_line"
)


def _kinds(filters: Sequence[Filter]) -> list[_Condition]:
    """A passage matches with its own symbol, or one that begins in it, of a matching kind."""
    passing = kinds_of(filters)
    if passing is None:
        return []

    def having(kinds: Iterable[str]) -> _Condition:
        given = sorted(kinds)
        where = "WHERE s.kind IN (SELECT unnest(?::VARCHAR[]))"
        return _Condition(f"p.id IN ({_OWN} {where} UNION ALL {_DEFINED} {where})", (given, given))

    if any(one.field == "kind" and not one.out for one in filters):
        return [having(passing)]
    # A passage without a symbol has no excluded kind.
    return [_any_of([having(passing), having(frozenset(SYMBOL_KINDS) - passing).negated()])]


def _of_listing(found: int, pool: int) -> str:
    said = f"{count(found, 'passage')} {'match' if found > 1 else 'matches'}"
    if found > pool:
        return f"No words to rank by: {said}; the first {pool:,} by path and line are listed."
    return f"No words to rank by: {said}, listed by path and line."
