"""An inverted index in memory: all occurrences of terms in a range of passages, in immutable arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.fts_writer import FIELDS

_SLICE = 500_000
"""Pairs of term and document that are read into memory at once."""


@dataclass(frozen=True, slots=True)
class InvertedIndex:
    """Occurrences in order of term, document and field; some 5 bytes each."""

    ids: NDArray[np.int64]
    """Passages that it covers, ascending; a document's number is its row here."""
    rows: Mapping[str, int]
    start: NDArray[np.int64]
    documents: NDArray[np.int32]
    fields: NDArray[np.int8]

    def occurrences(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Return documents and fields with a term, by document; empty for an unknown one."""
        row = self.rows.get(word)
        here = slice(0, 0) if row is None else slice(self.start[row], self.start[row + 1])
        return self.documents[here], self.fields[here]


def read(db: Database, ids: NDArray[np.int64], after: int = -1) -> InvertedIndex:
    """Read the occurrences in passages; called within `db.reading()`.

    Args:
        db: the store.
        ids: of the passages, ascending.
        after: every passage of a larger id is among them, and none of a smaller one.
    """
    words: Any = db.cursor.execute(
        "SELECT d.termid, d.term, count(*) AS n FROM fts_main_passage.terms t "
        "JOIN fts_main_passage.dict d ON d.termid = t.termid WHERE t.docid > ? GROUP BY ALL ORDER BY d.termid",
        [after],
    ).fetchnumpy()
    numbers, counts = np.asarray(words["termid"]), np.asarray(words["n"])
    ends, places, fields = [], [], []
    total = 0
    # A slice of the terms at a time: sorting all of it at once would take several times the room of the result.
    for wanted in np.array_split(numbers, 1 + int(counts.sum()) // _SLICE):
        if not len(wanted):
            continue
        rows: Any = db.cursor.execute(
            "SELECT termid::INTEGER AS term, docid::INTEGER AS doc, fieldid::TINYINT AS field "
            "FROM fts_main_passage.terms WHERE termid BETWEEN ? AND ? AND docid > ? ORDER BY termid, docid, fieldid",
            [int(wanted[0]), int(wanted[-1]), after],
        ).fetchnumpy()
        ends.append(total + np.searchsorted(np.asarray(rows["term"]), wanted, side="right"))
        places.append(np.searchsorted(ids, rows["doc"]).astype(np.int32))
        fields.append(np.asarray(rows["field"], dtype=np.int8))
        total += len(places[-1])
    return InvertedIndex(
        ids=ids,
        rows={word: row for row, word in enumerate(words["term"].tolist())},
        start=np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
        documents=np.concatenate([np.zeros(0, dtype=np.int32), *places]),
        fields=np.concatenate([np.zeros(0, dtype=np.int8), *fields]),
    )


def sorted_keys(documents: NDArray[Any], fields: NDArray[Any]) -> NDArray[np.int64]:
    """Return occurrences as numbers that sort by document, then field."""
    keys: NDArray[np.int64] = documents.astype(np.int64) * len(FIELDS) + fields
    return keys
