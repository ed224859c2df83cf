"""A query with parsed filters: its words, the matching passages, and the names of hits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.candidate_table import CandidateTable
from cm_tui.engine.search.ranking.documents import Documents
from cm_tui.engine.search.ranking.filters import Filter
from cm_tui.engine.search.ranking.passage_cache import PassageRecord
from cm_tui.engine.search.ranking.query import Query
from cm_tui.engine.search.ranking.retrieve import Ids, Nearness
from cm_tui.engine.search.ranking.traits import Definition


@dataclass(frozen=True)
class Narrowed:
    """A query whose filters were read."""

    query: Query
    """Its words."""
    filters: tuple[Filter, ...] = ()
    only: Ids | None = None
    """The passages that pass; None: no filter is in force."""
    kinds: frozenset[str] | None = None
    """The kinds of symbols that pass; None: every kind."""
    is_listing: bool = False
    """Whether there are no words: what passes is listed by path and line."""
    notes: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """Return the query as it can be typed: filters first."""
        return " ".join([*map(str, self.filters), self.query.text]) if self.filters else self.query.text

    def nearness(self, of: Callable[[str], Nearness | None]) -> Callable[[str], Nearness | None]:
        """Return the vector side of each source; for a query without words, all matching passages."""
        return (lambda _: _EVERYTHING) if self.is_listing else of

    def named(self, table: CandidateTable, read: Callable[[Sequence[int]], Sequence[PassageRecord]]) -> CandidateTable:
        """Return the candidates, each with a symbol of a matching kind.

        Args:
            table: the candidates.
            read: returns data on passages.
        """
        if self.kinds is None:
            return table
        known = {record.id: record for record in read(table.ids)}
        symbols, kinds = list(table.symbols), list(table.kinds)
        for row, id_ in enumerate(table.ids):
            if kinds[row] not in self.kinds and id_ in known and (one := self._best(known[id_])):
                symbols[row], kinds[row] = one.qualname, one.kind
        return replace(table, symbols=symbols, kinds=kinds)

    def _best(self, record: PassageRecord) -> Definition | None:
        """Return the matching definition in a passage that is queried most."""
        asked, names = frozenset(self.query.terms), {name.last for name in self.query.names}
        return max(
            (one for one in record.definitions if self.kinds is None or one.kind in self.kinds),
            key=lambda one: (one.name in names, len(asked.intersection(tokens.terms(one.name)))),
            default=None,
        )


class _AllPassages(Nearness):
    """In place of a vector side: every passage, none nearer than another."""

    def nearest(self, documents: Documents, pool: int) -> Ids:
        """Return the positions of the first passages."""
        return np.arange(min(pool, len(documents.ids)))

    def cosines(self, ids: Ids) -> NDArray[np.float64]:
        """Return that none has a vector."""
        return np.full(len(ids), np.nan)


_EVERYTHING = _AllPassages(cast("Any", None), np.zeros((1, 0), np.float32))
"""Compares nothing, so it needs no vectors."""
