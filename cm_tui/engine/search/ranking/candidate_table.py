"""The table of candidates from retrieval, column by column, with all data for ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.model import CODE, Candidates, Profile

Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """Candidates in order of (path, start_line), so that ties are broken in the same way everywhere.

    Sources follow one another. Arrays have one row per candidate; `bm25_by_term` has one row per candidate and one
    column per term.
    """

    ids: list[int]
    sources: list[str]
    paths: list[str]
    start_lines: list[int]
    end_lines: list[int]
    symbols: list[str | None]
    kinds: list[str | None]
    begins: list[int | None]
    """First line of the symbol that it is a piece of; None: of none."""
    languages: list[str]
    texts: list[str]
    times: list[int | None]
    terms: list[str]
    bm25_by_term: Column
    """The row's sum is the keyword score."""
    keyword_limit: Column
    """Limit of BM25 for these terms, however frequent: Σ idf·(k1 + 1)."""
    coordination: Column
    """Share of the query's words in the passage, from 0 to 1; rare ones count more, as in BM25."""
    cosines: Column
    """nan: no vector."""
    keyword_ranks: NDArray[np.int64]
    """Rank on the keyword side from 1; 0: not found there."""
    vector_ranks: NDArray[np.int64]
    lengths: Column
    """Index terms of the passage, including its name."""
    threads: NDArray[np.int32]
    """Number of the thread that it belongs to, within its source; -1: none."""
    turns: NDArray[np.int32]
    """Number of its turn; neighbours in a thread have consecutive numbers."""
    signals: Mapping[str, Column] = field(default_factory=dict)
    """What adjustments measure, from 0 to 1, by name."""
    query_terms: tuple[str, ...] = ()
    """All terms of the query, for snippets."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Each of them as the query has it."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Part of a report that each term is from."""
    idf: Mapping[str, float] = field(default_factory=dict)
    """Inverse document frequency in its source of each of `terms`; of several sources: empty."""
    is_name: bool = False
    """Whether the query is nothing but a name."""
    is_report: bool = False
    """Whether it is a long text that was taken apart."""
    now: int = 0
    """Time of the query, seconds since the epoch."""
    stale: Mapping[str, str] = field(default_factory=dict)
    """Notes on candidates that name something gone or moved, by path."""
    beside: tuple[Candidates, Profile] | None = None
    """Results of another profile for the same query, to show next to these, and that profile."""

    def __len__(self) -> int:
        return len(self.ids)


_COLUMNS = (
    "ids", "sources", "paths", "start_lines", "end_lines", "symbols", "kinds", "begins", "languages", "texts", "times",
    "keyword_limit", "coordination", "cosines", "keyword_ranks", "vector_ranks", "lengths",
)  # fmt: skip
"""Columns that are the same for several sources as for one."""


def concatenate(tables: Sequence[CandidateTable]) -> CandidateTable:
    """Concatenate the candidates of several sources; a term or signal that a source lacks is 0 there."""
    if len(tables) == 1:
        return tables[0]
    known = {term for table in tables for term in table.terms}
    asked = tuple(dict.fromkeys(term for table in tables for term in table.query_terms))
    terms = [term for term in asked if term in known]
    names = dict.fromkeys(name for table in tables for name in table.signals)
    tables = [_beside(table, tables) for table in tables]
    return CandidateTable(
        **{name: _joined([getattr(table, name) for table in tables]) for name in _COLUMNS},
        terms=terms,
        bm25_by_term=np.concatenate([_by_term(table, terms) for table in tables]),
        signals={name: _joined([table.signals.get(name, np.zeros(len(table))) for table in tables]) for name in names},
        threads=_apart([table.threads for table in tables]),
        turns=_apart([table.turns for table in tables]),
        query_terms=asked,
        written={term: text for table in reversed(tables) for term, text in table.written.items()},
        parts={term: name for table in reversed(tables) for term, name in table.parts.items()},
        is_name=tables[0].is_name,
        is_report=tables[0].is_report,
        now=tables[0].now,
    )


def _beside(table: CandidateTable, tables: Sequence[CandidateTable]) -> CandidateTable:
    """A table of memory in which words that other memory has count too: a note with one common word of a question has not all of it."""
    if not len(table) or table.is_report or table.sources[0] in (CODE, ""):
        return table
    others = [one.idf for one in tables if len(one) and one.sources[0] not in (CODE, "")]
    lacking = sum(max(idf.get(term, 0.0) for idf in others) for term in table.query_terms if term not in table.idf)
    own = sum(table.idf.values())
    share = own / (own + lacking) if own else 1.0
    return replace(table, keyword_limit=table.keyword_limit / share, coordination=table.coordination * share)


def _joined(columns: Sequence[Any]) -> Any:
    return [value for one in columns for value in one] if isinstance(columns[0], list) else np.concatenate(columns)


def _apart(columns: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Numbers of several sources in one column, made unique; -1 is kept."""
    found, first = [], 0
    for column in columns:
        found.append(np.where(column >= 0, column + first, -1).astype(np.int32))
        # A number is skipped between two sources: their turns are not neighbours.
        first += int(column.max(initial=-1)) + 2
    return np.concatenate(found)


def _by_term(table: CandidateTable, terms: Sequence[str]) -> Column:
    wide = np.zeros((len(table), len(terms)))
    wide[:, [terms.index(term) for term in table.terms]] = table.bm25_by_term
    return wide
