"""Why a named item is not among the hits: its rank, what it lacks, and what would raise it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cm_tui.counts import count
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.diversify import units_of
from cm_tui.engine.search.ranking.lifts import missing_words, reasons, weights_that_lift
from cm_tui.engine.search.ranking.named_passages import Named, NamedPassages
from cm_tui.engine.search.ranking.pipeline import Searcher
from cm_tui.engine.search.ranking.rank import Ranking
from cm_tui.errors import UsageError
from cm_tui.model import Candidates, Hit, Mode, Profile
from cm_tui.model.score_text import lacks
from cm_tui.model.search import Standing, State

_NEAREST = 5
_LARGER = (2, 4)
"""How many times the pool is tried."""
_ORDER: dict[State, int] = {"shown": 0, "ranked": 1, "piece": 2, "quota": 3, "below": 4, "no candidate": 5}
"""Which of several passages represents the name."""


class _Place(NamedTuple):
    """Rank of one passage."""

    state: State
    rank: int
    """Its own, or its hypothetical one."""
    row: int


@dataclass(frozen=True, slots=True)
class _AnsweredQuery:
    """The question, as it was answered."""

    query: str
    name: str
    profile: Profile
    mode: Mode
    limit: int
    candidates: Candidates
    ranking: Ranking

    @property
    def shown(self) -> list[int]:
        """The rows that are shown, best first."""
        return self.ranking.kept[: self.limit]

    def edges(self) -> tuple[Hit | None, Hit | None]:
        """The first and the last hit that are shown."""
        rows = self.shown
        if not rows:
            return None, None
        first, last = self.ranking.hits([(1, rows[0]), (len(rows), rows[-1])])
        return first, last


class WhyNot:
    """Explains the rank of items for a query.

    Args:
        db: the project's store.
        searcher: searches that store.
    """

    def __init__(self, db: Database, searcher: Searcher) -> None:
        self._searcher = searcher
        self._named = NamedPassages(db)

    def of(
        self, query: str, name: str, *, profile: str | Profile = "code", mode: Mode = "hybrid", limit: int | None = None
    ) -> Standing:
        """Return its rank.

        Args:
            query: as for a search.
            name: a path, a path and a line, a file name or a symbol.
            profile: as for a search.
            mode: as for a search.
            limit: number of shown hits; default: the profile's own.

        Raises:
            UsageError: no name is given, or mode or profile are unknown.
        """
        started = time.perf_counter()
        if not name.strip():
            raise UsageError("No result given.", hint="Give a file, a file and a line as path:12, or a symbol.")
        # The profile shown next to it is another query.
        chosen = replace(self._searcher.profile(profile), beside="")
        candidates = self._searcher.retrieve(query, profile=chosen, mode=mode)
        ranking = self._searcher.ranking(candidates, chosen)
        wanted = max(chosen.limit, sum(chosen.quotas.values())) if limit is None else max(limit, 1)
        asked = _AnsweredQuery(query, name, chosen, mode, wanted, candidates, ranking)
        found = self._named.of(name)
        standing = self._position(asked, found)
        took = (time.perf_counter() - started) * 1000
        notes = (*([found.note] if found.note else []), *candidates.notes)
        return replace(standing, took_ms=took, notes=notes, passages=len(found.ids))

    def _position(self, asked: _AnsweredQuery, found: Named) -> Standing:
        if not found.ids:
            near = dict.fromkeys(
                [*self._searcher.names.of(_last(asked.name)), *self._named.near_paths(asked.name, _NEAREST)]
            )
            said = f"Nothing in the index is named {asked.name.strip()}."
            return replace(_plain(asked, "unknown", said), nearest=tuple(near)[:_NEAREST])
        if place := _best(_places(asked, frozenset(found.ids))):
            return self._among(asked, place)
        if refused := self._searcher.refused(asked.query, asked.profile, found.ids):
            filters = " ".join(map(str, refused))
            said = f"The filter {filters} excludes {asked.name.strip()}."
            return self._filtered(asked, found.ids, said, filters)
        return self._beyond(asked, found.ids)

    def _filtered(self, asked: _AnsweredQuery, ids: Sequence[int], said: str, filters: str) -> Standing:
        """A passage excluded by a filter, with its rank without the filter."""
        words = self._searcher.words_of(asked.query)
        free = self._repeat(asked, words)
        place = _best(_places(free, frozenset(ids)))
        lift = f"Without {filters} it would be " + (f"at rank {place.rank}." if place else "no candidate either.")
        if place is None:
            free, place = self._with(asked, words, ids)
        standing = self._among(free, place) if place else _plain(asked, "filtered", said)
        return replace(standing, query=asked.query, state="filtered", said=said, lifts=(lift,))

    def _repeat(self, asked: _AnsweredQuery, query: str, *, pool: int = 0, also: Sequence[int] = ()) -> _AnsweredQuery:
        """Repeat the query with another pool, or with passages that are always candidates."""
        profile = replace(asked.profile, pool=pool or asked.profile.pool)
        given = np.array(sorted(also), dtype=np.int64) if also else None
        candidates = self._searcher.retrieve(query, profile=profile, mode=asked.mode, also=given)
        return replace(asked, candidates=candidates, ranking=self._searcher.ranking(candidates, asked.profile))

    def _with(self, asked: _AnsweredQuery, query: str, ids: Sequence[int]) -> tuple[_AnsweredQuery, _Place | None]:
        """Repeat the query with passages as candidates, and return the best one's place."""
        again = self._repeat(asked, query, also=ids)
        return again, _best(_places(again, frozenset(ids)))

    # --- candidates ---

    def _among(self, asked: _AnsweredQuery, place: _Place) -> Standing:
        """A candidate: ranked, or held back by one of the last steps."""
        ranking = asked.ranking
        state, rank, row = place
        [hit] = ranking.hits([(rank, row)])
        standing = replace(_plain(asked, state, ""), hit=hit)
        name, total = _called(hit), count(len(ranking.kept), "ranked passage")
        if state == "shown":
            return replace(_compared(standing), said=f"{name} is hit {rank} of the {len(asked.shown)} that are shown.")
        if state == "ranked":
            gap = standing.last.score - hit.score if standing.last else 0.0
            said = f"{name} is at rank {rank} of {total}; {len(asked.shown)} are shown. It is {gap:.3f} below the last of them."
            return replace(_compared(standing), said=said, lifts=_lifts(asked, row))
        if state == "piece":
            return _piece(asked, standing, row)
        if state == "quota":
            said = f"{name} would be at rank {rank}, but the profile {asked.profile.name} allows at most {asked.profile.quotas[hit.source]} of {hit.source}."
            lift = f"A quota above {asked.profile.quotas[hit.source]} for {hit.source} includes it."
            return replace(_compared(standing), said=said, lifts=(lift,))
        return _below(asked, standing, row)

    # --- no candidates ---

    def _beyond(self, asked: _AnsweredQuery, ids: Sequence[int]) -> Standing:
        """A passage that neither side selected: measured as if it were a candidate."""
        again, place = self._with(asked, asked.query, ids)
        if place is None:
            searched = ", ".join(asked.profile.sources)
            said = f"The profile {asked.profile.name} searches {searched}; {asked.name.strip()} is not among them."
            return _plain(asked, "not searched", said)
        ranking = again.ranking
        [hit] = ranking.hits([(place.rank, place.row)])
        standing = _compared(replace(_plain(asked, "no candidate", ""), hit=hit))
        why = " ".join(reasons(again.ranking, place.row, again.candidates.mode))
        rank = f" As a candidate it would be at rank {place.rank} of {len(ranking.order)}." if place.rank else ""
        said = f"{_called(hit)} is not a candidate. {why}{rank}"
        lifts = (*self._pool_lifts(asked, ids, place.rank), *_words_lift(again, place.row))
        return replace(standing, said=said, lifts=lifts)

    def _pool_lifts(self, asked: _AnsweredQuery, ids: Sequence[int], rank: int) -> tuple[str, ...]:
        """The smallest larger pool in which it is a candidate and would be shown."""
        if not asked.ranking.table.query_terms or not 0 < rank <= len(asked.shown):
            return ()
        for times in _LARGER:
            pool = asked.profile.pool * times
            place = _best(_places(self._repeat(asked, asked.query, pool=pool), frozenset(ids)))
            if place is not None:
                return (f"With a pool of {pool} it would be a candidate, at rank {place.rank}.",)
        return ()


def _below(asked: _AnsweredQuery, standing: Standing, row: int) -> Standing:
    hit, least = standing.hit, asked.profile.min_score
    assert hit is not None
    what, value = ("scores", hit.score) if hit.relevance is None else ("has a relevance of", hit.relevance)
    said = f"{_called(hit)} {what} {value:.3f}, below the profile's least score of {least:g}; without that it would be at rank {hit.rank}."
    lifts = (f"A least score (min_score) of {_reached(value)} or less includes it.", *_words_lift(asked, row))
    return replace(_compared(standing), said=said, lifts=lifts)


def _reached(score: float) -> str:
    """A score rounded down, so that the stated value suffices."""
    return f"{int(score * 1000) / 1000:g}"


def _last(name: str) -> str:
    """The last part of a name, for comparing it with those of symbols."""
    plain = name.strip().removesuffix("()").rpartition("/")[2]
    for separator in ("::", "->", "\\", "#", "."):
        plain = plain.rpartition(separator)[2]
    return plain


def _plain(asked: _AnsweredQuery, state: State, said: str) -> Standing:
    first, last = asked.edges()
    return Standing(
        asked.query, asked.name, state, said, asked.candidates.mode, asked.profile.name, first=first, last=last,
        shown=len(asked.shown), total=len(asked.ranking.kept), generation=asked.candidates.generation,
    )  # fmt: skip


def _called(hit: Hit) -> str:
    return f"{hit.symbol or hit.path.rpartition('/')[2]} ({hit.path}:{hit.start_line}-{hit.end_line})"


def _places(asked: _AnsweredQuery, ids: frozenset[int]) -> list[_Place]:
    """Ranks of the passages that are candidates."""
    ranking = asked.ranking
    ranks = {row: rank for rank, row in enumerate(ranking.kept, start=1)}
    found = []
    for place, row in enumerate(ranking.order, start=1):
        if ranking.table.ids[row] not in ids:
            continue
        if row in ranks:
            found.append(_Place("shown" if ranks[row] <= asked.limit else "ranked", ranks[row], row))
        elif not ranking.enough[row]:
            found.append(_Place("below", place, row))
        elif _ranked_piece(ranking, row) is not None:
            found.append(_Place("piece", place, row))
        else:
            found.append(_Place("quota", place, row))
    return found


def _best(places: Sequence[_Place]) -> _Place | None:
    return min(places, key=lambda place: (_ORDER[place.state], place.rank), default=None)


def _ranked_piece(ranking: Ranking, row: int) -> int | None:
    """The row of the ranked piece of the same function, or of the same section elsewhere; None: there is no other."""
    units = units_of(ranking.table, row)
    return next((other for other in ranking.kept if units & units_of(ranking.table, other)), None)


def _compared(standing: Standing) -> Standing:
    """With its gap to the first and the last hit."""
    hit, first, last = standing.hit, standing.first, standing.last
    if hit is None or first is None or last is None:
        return standing
    said = [lacks(hit, first, f"the first hit, {_called(first)},") if hit.passage != first.passage else ""]
    if last.passage not in {hit.passage, first.passage} and last.score > hit.score:
        said.append(lacks(hit, last, f"the last shown one, {_called(last)},"))
    return replace(standing, lacks=tuple(filter(None, said)))


def _piece(asked: _AnsweredQuery, standing: Standing, row: int) -> Standing:
    ranking, hit = asked.ranking, standing.hit
    other = _ranked_piece(ranking, row)
    assert other is not None
    assert hit is not None
    [instead] = ranking.hits([(ranking.kept.index(other) + 1, other)])
    said = f"Lines {hit.start_line}-{hit.end_line} are a piece of {hit.symbol}, whose best piece, {instead.start_line}-{instead.end_line}, represents all of it at rank {instead.rank}."
    if hit.path != instead.path:
        said = f"{instead.path}:{instead.start_line}-{instead.end_line} has the same text and represents it at rank {instead.rank}."
    lifts = _lifts(asked, other) if instead.rank > len(asked.shown) else ()
    return replace(_compared(standing), said=said, instead=instead, lifts=lifts)


def _lifts(asked: _AnsweredQuery, row: int) -> tuple[str, ...]:
    if not asked.ranking.table.query_terms:
        return ()
    return (*weights_that_lift(asked.ranking, row, len(asked.shown), asked.candidates), *_words_lift(asked, row))


def _words_lift(asked: _AnsweredQuery, row: int) -> tuple[str, ...]:
    words = missing_words(asked.ranking, row)
    return (f"It does not contain: {', '.join(words)}.",) if words else ()
