"""The keyword index: passages by term, read from the full-text tables, each source counted separately."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.documents import Collection, Documents, Threads, average_of
from cm_tui.engine.search.ranking.fts_writer import FIELDS
from cm_tui.lru import LRU
from cm_tui.model import CODE

# --- an inverted index in memory: all occurrences of terms in a range of passages, in immutable arrays ---

_SLICE = 500_000
"""Pairs of term and document that are read into memory at once; of a single term, all."""


@dataclass(frozen=True, slots=True)
class InvertedIndex:
    """Occurrences in order of term, document and field; 4 bytes each."""

    ids: NDArray[np.int64]
    """Passages that it covers, ascending; a document's number is its row here."""
    rows: Mapping[str, int]
    start: NDArray[np.int64]
    keys: NDArray[np.int32]
    """Document and field of each, as `sorted_keys`."""

    def occurrences(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return documents and fields with a term, by document; empty for an unknown one."""
        row = self.rows.get(word)
        here = slice(0, 0) if row is None else slice(self.start[row], self.start[row + 1])
        documents, fields = np.divmod(self.keys[here], np.int32(len(FIELDS)))
        return documents, fields


def read(db: Database, ids: NDArray[np.int64], after: int = -1) -> InvertedIndex:
    """Read the occurrences in passages; called within `db.reading()`.

    Args:
        db: the store.
        ids: of the passages, ascending.
        after: every passage of a larger id is among them, and none of a smaller one.
    """
    words: Any = db.cursor.execute(
        "SELECT t.termid, d.term, t.n FROM "
        "(SELECT termid, count(*) AS n FROM fts_main_passage.terms WHERE docid > ? GROUP BY termid) t "
        "LEFT JOIN fts_main_passage.dict d ON d.termid = t.termid ORDER BY t.termid",
        [after],
    ).fetchnumpy()
    numbers, counts = np.asarray(words["termid"]), np.asarray(words["n"])
    start, total = np.zeros(len(numbers) + 1, dtype=np.int64), 0
    np.cumsum(counts, out=start[1:])
    keys = np.empty(int(start[-1]), dtype=np.int32)
    # A slice of the terms at a time: sorting all of it at once would take several times the room of the result.
    for wanted in np.split(numbers, np.flatnonzero(np.diff(np.cumsum(counts) // _SLICE)) + 1):
        if not len(wanted):
            continue
        rows: Any = db.cursor.execute(
            "SELECT docid::INTEGER AS doc, fieldid::TINYINT AS field "
            "FROM fts_main_passage.terms WHERE termid BETWEEN ? AND ? AND docid > ? ORDER BY termid, docid, fieldid",
            [int(wanted[0]), int(wanted[-1]), after],
        ).fetchnumpy()
        documents = np.searchsorted(ids, rows["doc"])
        keys[total : total + len(documents)] = sorted_keys(documents, np.asarray(rows["field"]))
        total += len(documents)
    return InvertedIndex(
        ids=ids,
        rows={word: row for row, word in enumerate(words["term"].tolist())},
        start=start,
        keys=keys,
    )


def sorted_keys(documents: NDArray[Any], fields: NDArray[Any]) -> NDArray[np.int64]:
    """Return occurrences as numbers that sort by document, then field."""
    keys: NDArray[np.int64] = documents.astype(np.int64) * len(FIELDS) + fields
    return keys


# --- the keyword index ---

_CACHED_POSTINGS = 2_000_000
"""Documents of the terms that are cached of a state, 16 bytes each: a common word of a large project has 100,000."""
_GENERATIONS = 2
"""Cached states: the current one, and the one being prepared."""
_LATER_SHARE = 0.1
"""Once more of the passages than this came after the index in memory was made, it is made again."""
_MOST_LATER = 0.5
"""With more, the store is queried until they are merged."""
_CHINESE = ("返回", "获取", "是否", "参数", "如果", "当前", "一个", "可以", "进行")
_PASSAGES = "SELECT count(*), coalesce(max(id), 0), coalesce(sum(id), 0) FROM passage"
_MAX_QUERY_TERMS = 64
"""Most telling words of a pasted page to search; more would match everything."""
_MOST_TERMS = 1_500
"""Words of a pasted page from which these are chosen."""


@dataclass(frozen=True, slots=True)
class Postings:
    """Occurrences of a term: positions of documents, ascending, and counts by field (n, 3)."""

    documents: NDArray[np.int32]
    counts: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the query with its statistics."""

    text: str
    idf: float
    postings: Postings


@dataclass(frozen=True, slots=True)
class _Memory:
    """Statistics of all terms without the store: most passages, and later ones."""

    base: InvertedIndex
    later: InvertedIndex
    at: NDArray[np.int32]
    """Position of each passage of `base`; -1: removed."""
    first: int
    """Position of the first of `later`."""

    def keys(self, word: str) -> NDArray[np.int64]:
        """Occurrences of a term as sorted keys of position and field."""
        documents, fields = self.base.occurrences(word)
        positions = self.at[documents]
        alive = positions >= 0
        more, fields_of_more = self.later.occurrences(word)
        return np.concatenate(
            [sorted_keys(positions[alive], fields[alive]), sorted_keys(more + self.first, fields_of_more)]
        )


def _weight(found: tuple[Term | None]) -> int:
    return 1 + (0 if found[0] is None else len(found[0].postings.documents))


@dataclass(slots=True)
class _State:
    """The keyword index of one generation."""

    passages: tuple[int, ...]
    """Print of its passages: their ids are never used again."""
    collection: Collection
    memory: _Memory | None
    terms: LRU[str, tuple[Term | None]] = field(default_factory=lambda: LRU(_CACHED_POSTINGS, _weight))
    """Terms by word; None for a word that the index does not have."""


class KeywordIndex:
    """Reads the keyword index, and caches what it reads of a generation.

    Thread-safe.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._loading = Lock()
        self._states: LRU[int, _State] = LRU(_GENERATIONS)
        self._base: InvertedIndex | None = None
        db.generations.on_change(self._prepare)

    def documents(self, source: str | None = None) -> Documents:
        """The current passages of a source, or all."""
        with self._db.reading() as number:
            collection = self._state(number).collection
        return collection.documents if source is None else collection.part(source)

    def terms(self, words: Sequence[str], source: str | None = None) -> list[Term]:
        """Postings of the terms that a source has (or any source), each once, in the given order.

        Args:
            words: index terms from `tokens.split`.
            source: the source to count; positions are those of `documents(source)`.
        """
        return self.documents_and_terms(words, source)[1]

    def of_chinese(self) -> bool:
        """Return whether most comments of the code are in Chinese: more passages have a plain word of it than `the`."""
        found = [term.postings.documents for term in self.terms(_CHINESE, CODE)]
        return bool(found) and len(np.unique(np.concatenate(found))) > sum(
            len(term.postings.documents) for term in self.terms(("the",), CODE)
        )

    def documents_and_terms(
        self, words: Sequence[str] | Mapping[str, float], source: str | None, only: NDArray[np.int64] | None = None
    ) -> tuple[Documents, list[Term]]:
        """Passages of a source and the postings of terms in them, both of one generation.

        Args:
            words: index terms; with what each counts, where they do not count the same.
            source: what counts.
            only: ids of passages; of the source, only these count.
        """
        wanted = list(dict.fromkeys(words))[:_MOST_TERMS]
        with self._db.reading() as number:
            state = self._state(number)
            found = {word: known[0] for word in wanted if (known := state.terms.get(word)) is not None}
            if missing := [word for word in wanted if word not in found]:
                found |= (fetched := self._fetch(missing, state))
                for word, term in fetched.items():
                    state.terms.put(word, (term,))
        documents = state.collection.documents if source is None else state.collection.part(source)
        if only is not None:
            documents = state.collection.some(source, only)
        terms = [term for word in wanted if (term := found[word]) is not None]
        inside = [one for term in terms if (one := _within(term, documents)) is not None]
        worth = [one.idf * (words[one.text] if isinstance(words, Mapping) else 1.0) for one in inside]
        telling = sorted(sorted(range(len(inside)), key=lambda row: -worth[row])[:_MAX_QUERY_TERMS])
        return documents, [replace(inside[row], idf=worth[row]) for row in telling]

    def read_all(self) -> None:
        """Load the whole index into memory, 4 bytes per occurrence; terms are then found without the store."""
        with self._db.reading() as number:
            state = self._state(number)
            documents = state.collection.documents
            if state.memory is not None and len(state.memory.later.ids) <= _LATER_SHARE * len(documents.ids):
                return
            self._base = read(self._db, documents.ids)
            state.memory = self._memory(documents)

    def _prepare(self, number: int) -> None:
        """Prepare for queries of a new generation, if there were any of the one before."""
        if len(self._states):
            self._state(number)

    def _state(self, number: int) -> _State:
        if (found := self._states.get(number)) is not None:
            return found
        with self._loading:
            if (found := self._states.get(number)) is None:
                found = self._made(number)
                self._states.put(number, found)
        return found

    def _made(self, number: int) -> _State:
        passages = self._db.rows(_PASSAGES)[0]
        for known in self._states.values():
            if known.passages == passages:
                # Only what is known of memories has changed.
                return replace(known, collection=known.collection.of_generation(number))
        collection = self._load(number)
        return _State(passages, collection, self._memory(collection.documents))

    def _load(self, number: int) -> Collection:
        rows: Any = self._db.cursor.execute(
            """
            SELECT p.id, d.len, dense_rank() OVER (ORDER BY p.path) AS file, p.source
            FROM passage p JOIN fts_main_passage.docs d ON d.docid = p.id ORDER BY p.id
            """
        ).fetchnumpy()
        lengths, ids = np.asarray(rows["len"], dtype=np.float32), np.asarray(rows["id"], dtype=np.int64)
        names, sources = np.unique(rows["source"].astype(str), return_inverse=True)
        documents = Documents(
            generation=number,
            ids=ids,
            lengths=lengths,
            files=np.asarray(rows["file"], dtype=np.int32) - 1,
            average=average_of(lengths),
            threads=self._threads(ids),
        )
        return Collection(documents, sources, tuple(names.tolist()), {})

    def _threads(self, ids: NDArray[np.int64]) -> Threads | None:
        """Neighbourhood of passages, whose ids are ascending; None: no passage belongs to a thread."""
        rows: Any = self._db.cursor.execute(
            """
            SELECT id, dense_rank() OVER (ORDER BY thread) AS thread,
                   dense_rank() OVER (ORDER BY thread, place, time, path) AS turn
            FROM passage WHERE thread IS NOT NULL
            """
        ).fetchnumpy()
        if not len(rows["id"]):
            return None
        at = np.searchsorted(ids, np.asarray(rows["id"], dtype=np.int64))
        found = Threads(np.full(len(ids), -1, np.int32), np.full(len(ids), -1, np.int32))
        found.thread[at], found.turn[at] = rows["thread"], rows["turn"]
        return found

    def _memory(self, documents: Documents) -> _Memory | None:
        """Update the passages in memory: drop removed ones, read new ones."""
        base = self._base
        if base is None or not len(documents.ids):
            return None
        last = int(base.ids[-1]) if len(base.ids) else -1
        first = int(np.searchsorted(documents.ids, last, side="right"))
        if len(documents.ids) - first > _MOST_LATER * len(documents.ids):
            return None
        at = np.searchsorted(documents.ids, base.ids)
        here = (at < first) & (documents.ids[np.minimum(at, len(documents.ids) - 1)] == base.ids)
        later = read(self._db, documents.ids[first:], after=last)
        return _Memory(base, later, np.where(here, at, -1).astype(np.int32), first)

    def _fetch(self, words: Sequence[str], state: _State) -> dict[str, Term | None]:
        documents = state.collection.documents
        if state.memory is not None:
            return {word: _term(word, state.memory.keys(word), documents) for word in words}
        known = self._db.rows(
            "SELECT termid, term FROM fts_main_passage.dict WHERE term IN (SELECT unnest(?))", [list(words)]
        )
        found: dict[str, Term | None] = dict.fromkeys(words)
        if not known:
            return found
        places = ", ".join(str(int(row[0])) for row in known)
        rows: Any = self._db.cursor.execute(
            f"SELECT termid, docid, fieldid FROM fts_main_passage.terms WHERE termid IN ({places})"  # noqa: S608 - numbers
        ).fetchnumpy()
        term_of, document, field = (np.asarray(rows[name]) for name in ("termid", "docid", "fieldid"))
        keys = sorted_keys(documents.position(document), field)
        order = np.lexsort((keys, term_of))
        keys, term_of = keys[order], term_of[order]
        for termid, word in known:
            first, last = np.searchsorted(term_of, (termid, termid + 1))
            found[word] = _term(word, keys[first:last], documents)
        return found


def best_positions(worth: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Positions of the largest values above 0, the largest first; equal ones in order."""
    found = np.flatnonzero(worth > 0)
    if len(found) > most:
        # All ties with the last one stay until the sort below decides by position.
        limit = -np.partition(-worth[found], most - 1)[most - 1]
        found = found[worth[found] >= limit]
    return found[np.argsort(-worth[found], kind="stable")[:most]]


def _idf(frequency: int, documents: Documents) -> float:
    return float(np.log10((len(documents.ids) - frequency + 0.5) / (frequency + 0.5) + 1))


def _term(word: str, keys: NDArray[np.int64], documents: Documents) -> Term | None:
    if not len(keys):
        return None
    postings = _postings(keys)
    return Term(word, _idf(len(postings.documents), documents), postings)


def _within(term: Term, documents: Documents) -> Term | None:
    """The term's statistics within some passages; None: none of them has it."""
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
