"""Keyword search: BM25 over the full-text tables, with the share of each term."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search import tokens
from cm_tui.engine.search.fts_writer import FIELDS
from cm_tui.engine.search.passages import generation
from cm_tui.engine.store.database import Database

K1 = 1.2
B = 0.75
FIELD_WEIGHTS: Mapping[str, float] = {"path": 1.0, "title": 2.0, "body": 1.0}
"""How often an occurrence counts: a word in a name says more than the same word in a body."""

_CACHED_TERMS = 2_000
_SLICE = 500_000
"""Pairs of term and document that are read into memory at once."""
_MAX_QUERY_TERMS = 64
"""A pasted page is searched by its first words; more of them would only find everything."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Where a term stands: positions of documents, ascending, and occurrences by field (n, 3)."""

    documents: NDArray[np.int32]
    counts: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Documents:
    """All passages of one generation, column by column; a document's position is its row here."""

    generation: int
    ids: NDArray[np.int64]
    """Ascending."""
    lengths: NDArray[np.float32]
    files: NDArray[np.int32]
    """Number of the file, in order of the path."""
    sources: NDArray[np.int64]
    """Number of the passage's source in `source_names`."""
    source_names: tuple[str, ...]
    average: float

    def of(self, sources: Sequence[str]) -> NDArray[np.bool_]:
        """Which passages are of some sources."""
        return np.isin(self.sources, [self.source_names.index(name) for name in sources if name in self.source_names])

    def position(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of passages by id; every id must be there."""
        return np.searchsorted(self.ids, ids)


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the query with what the collection says about it."""

    text: str
    idf: float
    postings: Postings


class KeywordIndex:
    """Reads the keyword index; keeps recent postings in memory for as long as the passages do not change.

    Safe to use from several threads.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = RLock()
        self._documents: Documents | None = None
        self._postings: OrderedDict[str, Term | None] = OrderedDict()
        self._everything: _Everything | None = None

    def documents(self) -> Documents:
        """The passages as they are now."""
        now = generation(self._db)
        with self._lock:
            if self._documents is None or self._documents.generation != now:
                self._postings.clear()
                self._documents = self._load(now)
            return self._documents

    def _load(self, now: int) -> Documents:
        rows: Any = self._db.cursor.execute(
            """
            SELECT p.id, d.len, dense_rank() OVER (ORDER BY p.path) AS file, p.source
            FROM passage p JOIN fts_main_passage.docs d ON d.docid = p.id ORDER BY p.id
            """
        ).fetchnumpy()
        lengths = np.asarray(rows["len"], dtype=np.float32)
        names, sources = np.unique(rows["source"].astype(str), return_inverse=True)
        return Documents(
            generation=now,
            ids=np.asarray(rows["id"], dtype=np.int64),
            lengths=lengths,
            files=np.asarray(rows["file"], dtype=np.int32) - 1,
            sources=sources,
            source_names=tuple(names.tolist()),
            average=float(lengths.mean()) if len(lengths) else 0.0,
        )

    def terms(self, words: Sequence[str], documents: Documents | None = None) -> list[Term]:
        """Postings of the terms that the collection knows, each once, in the given order.

        Args:
            words: index terms, as `tokens.split` gives them.
            documents: the passages, when they were just asked for.
        """
        documents = documents or self.documents()
        wanted = list(dict.fromkeys(words))[:_MAX_QUERY_TERMS]
        with self._lock:
            missing = [word for word in wanted if word not in self._postings]
            if missing:
                self._postings.update(self._fetch(missing, documents))
            found = [self._postings[word] for word in wanted]
            for word in wanted:
                self._postings.move_to_end(word)
            while len(self._postings) > _CACHED_TERMS:
                self._postings.popitem(last=False)
        return [term for term in found if term is not None]

    def _fetch(self, words: Sequence[str], documents: Documents) -> dict[str, Term | None]:
        everything = self._everything
        if everything is not None and everything.generation == documents.generation:
            return {word: everything.term(word, documents) for word in words}
        found: dict[str, Term | None] = dict.fromkeys(words)
        known = self._db.rows(
            "SELECT termid, term, df FROM fts_main_passage.dict WHERE term IN (SELECT unnest(?))", [list(words)]
        )
        if not known:
            return found
        places = ", ".join(str(int(row[0])) for row in known)
        rows: Any = self._db.cursor.execute(
            f"SELECT termid, docid, fieldid FROM fts_main_passage.terms WHERE termid IN ({places})"  # noqa: S608 - numbers
        ).fetchnumpy()
        term_of, document, field = (np.asarray(rows[name]) for name in ("termid", "docid", "fieldid"))
        for termid, word, frequency in known:
            here = term_of == termid
            key = np.sort(documents.position(document[here]) * len(FIELDS) + field[here])
            found[word] = Term(word, _idf(frequency, documents), _postings(key))
        return found

    def read_all(self) -> None:
        """Take the whole index into memory, some 5 bytes an occurrence; terms are then found without the store."""
        documents = self.documents()
        if self._everything is not None and self._everything.generation == documents.generation:
            return
        everything = _read_everything(self._db, documents)
        # What was read while the passages changed belongs to no state of them.
        if generation(self._db) == documents.generation:
            self._everything = everything


@dataclass(frozen=True, slots=True)
class _Everything:
    """All occurrences, in order of term, document and field."""

    generation: int
    rows: Mapping[str, int]
    frequency: NDArray[np.int64]
    start: NDArray[np.int64]
    documents: NDArray[np.int32]
    fields: NDArray[np.int8]

    def term(self, word: str, documents: Documents) -> Term | None:
        row = self.rows.get(word)
        if row is None:
            return None
        here = slice(self.start[row], self.start[row + 1])
        key = self.documents[here].astype(np.int64) * len(FIELDS) + self.fields[here]
        return Term(word, _idf(int(self.frequency[row]), documents), _postings(key))


def _read_everything(db: Database, documents: Documents) -> _Everything:
    words: Any = db.cursor.execute("SELECT termid, term, df FROM fts_main_passage.dict ORDER BY termid").fetchnumpy()
    numbers, frequency = np.asarray(words["termid"]), np.asarray(words["df"])
    ends, places, fields = [], [], []
    total = 0
    # A slice of the terms at a time: sorting all of it at once would take several times the room of the result.
    for wanted in np.array_split(numbers, 1 + int(frequency.sum()) // _SLICE):
        if not len(wanted):
            continue
        rows: Any = db.cursor.execute(
            "SELECT termid::INTEGER AS term, docid::INTEGER AS doc, fieldid::TINYINT AS field "
            "FROM fts_main_passage.terms WHERE termid BETWEEN ? AND ? ORDER BY termid, docid, fieldid",
            [int(wanted[0]), int(wanted[-1])],
        ).fetchnumpy()
        ends.append(total + np.searchsorted(np.asarray(rows["term"]), wanted, side="right"))
        places.append(np.searchsorted(documents.ids, rows["doc"]).astype(np.int32))
        fields.append(np.asarray(rows["field"], dtype=np.int8))
        total += len(places[-1])
    return _Everything(
        generation=documents.generation,
        rows={word: row for row, word in enumerate(words["term"].tolist())},
        frequency=frequency,
        start=np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
        documents=np.concatenate([np.zeros(0, dtype=np.int32), *places]),
        fields=np.concatenate([np.zeros(0, dtype=np.int8), *fields]),
    )


def _idf(frequency: int, documents: Documents) -> float:
    return float(np.log10((len(documents.ids) - frequency + 0.5) / (frequency + 0.5) + 1))


def _postings(key: NDArray[np.int64]) -> Postings:
    """Postings from sorted keys: position of the document times the number of fields, plus the field."""
    document = key // len(FIELDS)
    first = np.diff(document, prepend=-1) > 0
    row = np.cumsum(first) - 1
    count = int(first.sum())
    table = np.bincount(row * len(FIELDS) + key % len(FIELDS), minlength=count * len(FIELDS))
    return Postings(document[first].astype(np.int32), table.reshape(count, len(FIELDS)).astype(np.float32))


def weights_vector(weights: Mapping[str, float]) -> NDArray[np.float32]:
    """Weights in the order of the fields."""
    return np.array([weights.get(field, 1.0) for field in FIELDS], dtype=np.float32)


def bm25(
    documents: Documents, terms: Sequence[Term], weights: Mapping[str, float] = FIELD_WEIGHTS
) -> NDArray[np.float32]:
    """BM25 of every document, one row a term: the sum over rows is the score.

    The formula is that of DuckDB's `match_bm25` (k1 1.2, b 0.75, idf with log10); with all weights 1 the sum is equal
    to it. An occurrence in a field counts as many times as the field's weight says.
    """
    scores = np.zeros((len(terms), len(documents.ids)), dtype=np.float32)
    field = weights_vector(weights)
    for row, term in enumerate(terms):
        at = term.postings.documents
        frequency = term.postings.counts @ field
        norm = K1 * (1 - B + B * documents.lengths[at] / documents.average)
        scores[row, at] = term.idf * frequency * (K1 + 1) / (frequency + norm)
    return scores


def bm25_of_files(
    documents: Documents, terms: Sequence[Term], weights: Mapping[str, float] = FIELD_WEIGHTS
) -> NDArray[np.float32]:
    """BM25 of every file taken as one document, one row a term."""
    count = int(documents.files.max()) + 1 if len(documents.files) else 0
    lengths = np.bincount(documents.files, weights=documents.lengths, minlength=count)
    average = lengths.mean() if count else 0.0
    norm = K1 * (1 - B + B * lengths / average) if count else lengths
    field = weights_vector(weights)
    scores = np.zeros((len(terms), count), dtype=np.float32)
    for row, term in enumerate(terms):
        files = documents.files[term.postings.documents]
        frequency = np.bincount(files, weights=term.postings.counts @ field, minlength=count)
        known = int((frequency > 0).sum())
        idf = np.log10((count - known + 0.5) / (known + 0.5) + 1)
        scores[row] = idf * frequency * (K1 + 1) / (frequency + norm)
    return scores


def query_terms(query: str) -> list[str]:
    """Index terms of a query without the words that only say how it is put."""
    return [term for word in tokens.content_words(query) for term in tokens.split(word)]
