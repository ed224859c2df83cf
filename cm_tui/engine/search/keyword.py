"""The keyword index: which passages hold a term, read from the full-text tables, each source counted by itself."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.search.fts_writer import FIELDS
from cm_tui.engine.search.passages import generation
from cm_tui.engine.store.database import Database

_CACHED_TERMS = 2_000
_SLICE = 500_000
"""Pairs of term and document that are read into memory at once."""
_MAX_QUERY_TERMS = 64
"""A pasted page is searched by its first words; more of them would only find everything."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Places where a term stands: positions of documents, ascending, and occurrences by field (n, 3)."""

    documents: NDArray[np.int32]
    counts: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Documents:
    """Passages that are counted together, column by column; a document's position is its row here."""

    generation: int
    ids: NDArray[np.int64]
    """Ascending."""
    lengths: NDArray[np.float32]
    files: NDArray[np.int32]
    """Number of the file, in order of the path."""
    average: float
    positions: NDArray[np.int32] | None = None
    """Row here, or -1, of every passage there is; None: these are all."""

    def position(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of passages by id; every id must be there."""
        return np.searchsorted(self.ids, ids)


@dataclass(frozen=True, slots=True)
class _Collection:
    """All passages of one generation, and those of each source that was asked for."""

    documents: Documents
    sources: NDArray[np.int64]
    """Number of each passage's source in `names`."""
    names: tuple[str, ...]
    parts: dict[str, Documents]

    def part(self, source: str) -> Documents:
        """The passages of one source: BM25 counts no others, so that what else is remembered moves no score."""
        if source not in self.parts:
            number = self.names.index(source) if source in self.names else -1
            self.parts[source] = _part(self.documents, np.flatnonzero(self.sources == number))
        return self.parts[source]


def _part(every: Documents, rows: NDArray[np.int64]) -> Documents:
    if len(rows) == len(every.ids):
        return every
    lengths = every.lengths[rows]
    positions = np.full(len(every.ids), -1, dtype=np.int32)
    positions[rows] = np.arange(len(rows), dtype=np.int32)
    _, files = np.unique(every.files[rows], return_inverse=True)
    return Documents(
        generation=every.generation,
        ids=every.ids[rows],
        lengths=lengths,
        files=files.astype(np.int32),
        average=_average(lengths),
        positions=positions,
    )


def _average(lengths: NDArray[np.float32]) -> float:
    return float(lengths.mean()) if len(lengths) else 0.0


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
        self._collection: _Collection | None = None
        self._postings: OrderedDict[str, Term | None] = OrderedDict()
        self._in_memory: _InvertedIndex | None = None

    def documents(self, source: str | None = None) -> Documents:
        """The passages as they are now: those of a source, or all."""
        now = generation(self._db)
        with self._lock:
            if self._collection is None or self._collection.documents.generation != now:
                self._postings.clear()
                self._collection = self._load(now)
            return self._collection.documents if source is None else self._collection.part(source)

    def _load(self, now: int) -> _Collection:
        rows: Any = self._db.cursor.execute(
            """
            SELECT p.id, d.len, dense_rank() OVER (ORDER BY p.path) AS file, p.source
            FROM passage p JOIN fts_main_passage.docs d ON d.docid = p.id ORDER BY p.id
            """
        ).fetchnumpy()
        lengths = np.asarray(rows["len"], dtype=np.float32)
        names, sources = np.unique(rows["source"].astype(str), return_inverse=True)
        documents = Documents(
            generation=now,
            ids=np.asarray(rows["id"], dtype=np.int64),
            lengths=lengths,
            files=np.asarray(rows["file"], dtype=np.int32) - 1,
            average=_average(lengths),
        )
        return _Collection(documents, sources, tuple(names.tolist()), {})

    def terms(self, words: Sequence[str], source: str | None = None) -> list[Term]:
        """Postings of the terms that a source knows (or any, when none is given), each once, in the given order.

        Args:
            words: index terms, as `tokens.split` gives them.
            source: what counts; positions are those of `documents(source)`.
        """
        return self.documents_and_terms(words, source)[1]

    def documents_and_terms(self, words: Sequence[str], source: str | None) -> tuple[Documents, list[Term]]:
        """Passages of a source and the postings of terms in them, both of one generation."""
        wanted = list(dict.fromkeys(words))[:_MAX_QUERY_TERMS]
        with self._lock:
            documents = self.documents(source)
            missing = [word for word in wanted if word not in self._postings]
            if missing and self._collection is not None:
                self._postings.update(self._fetch(missing, self._collection.documents))
            found = [self._postings[word] for word in wanted]
            for word in wanted:
                self._postings.move_to_end(word)
            while len(self._postings) > _CACHED_TERMS:
                self._postings.popitem(last=False)
        known = [term for term in found if term is not None]
        return documents, [inside for term in known if (inside := _within(term, documents)) is not None]

    def _fetch(self, words: Sequence[str], documents: Documents) -> dict[str, Term | None]:
        in_memory = self._in_memory
        if in_memory is not None and in_memory.generation == documents.generation:
            return {word: in_memory.term(word, documents) for word in words}
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
        if self._in_memory is not None and self._in_memory.generation == documents.generation:
            return
        found = _read_inverted_index(self._db, documents)
        # What was read while the passages changed belongs to no state of them.
        if generation(self._db) == documents.generation:
            self._in_memory = found


@dataclass(frozen=True, slots=True)
class _InvertedIndex:
    """All occurrences of the index, in order of term, document and field."""

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


def _read_inverted_index(db: Database, documents: Documents) -> _InvertedIndex:
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
    return _InvertedIndex(
        generation=documents.generation,
        rows={word: row for row, word in enumerate(words["term"].tolist())},
        frequency=frequency,
        start=np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
        documents=np.concatenate([np.zeros(0, dtype=np.int32), *places]),
        fields=np.concatenate([np.zeros(0, dtype=np.int8), *fields]),
    )


def _idf(frequency: int, documents: Documents) -> float:
    return float(np.log10((len(documents.ids) - frequency + 0.5) / (frequency + 0.5) + 1))


def _within(term: Term, documents: Documents) -> Term | None:
    """The term as some of the passages know it; None when none of them has it."""
    if documents.positions is None:
        return term
    at = documents.positions[term.postings.documents]
    inside = at >= 0
    if not inside.any():
        return None
    postings = Postings(at[inside], term.postings.counts[inside])
    return Term(term.text, _idf(len(postings.documents), documents), postings)


def _postings(key: NDArray[np.int64]) -> Postings:
    """Postings from sorted keys: position of the document times the number of fields, plus the field."""
    document = key // len(FIELDS)
    first = np.diff(document, prepend=-1) > 0
    row = np.cumsum(first) - 1
    count = int(first.sum())
    table = np.bincount(row * len(FIELDS) + key % len(FIELDS), minlength=count * len(FIELDS))
    return Postings(document[first].astype(np.int32), table.reshape(count, len(FIELDS)).astype(np.float32))
