"""Writing the keyword index: full-text tables, updated by SQL in the transaction that changes the passages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.numbering import Numbering, numbered
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking import tokens
from cm_tui.engine.search.ranking.wording import CODE_WORDING, Wording

FIELDS = ("path", "title", "body")
"""`path` words of the path, `title` names of the symbols that the passage defines, `body` its text."""

_BATCH = 20_000


class Document(NamedTuple):
    """A passage as it is indexed: one text a field, in the order of `FIELDS`."""

    id: int
    texts: tuple[str, str, str]


class _Occurrences(NamedTuple):
    """All occurrences in a batch as sorted numbers: batch-local term, then section, which is document, then field."""

    key: NDArray[np.int64]
    shift: int
    """Bits of a section."""
    vocabulary: list[str]
    """Terms by number."""
    lengths: NDArray[np.int64]
    """Number of terms in each document."""

    @property
    def term(self) -> NDArray[np.int64]:
        """Return the term of each occurrence."""
        return self.key >> self.shift

    @property
    def section(self) -> NDArray[np.int64]:
        """Return the section of each occurrence."""
        return self.key & ((1 << self.shift) - 1)


def add(
    db: Database,
    documents: Iterable[Document],
    wording: Wording = CODE_WORDING,
    check: Callable[[], None] = lambda: None,
) -> int:
    """Index new passages; called inside an open transaction.

    Args:
        db: the store.
        documents: passages of sources with the same wording.
        wording: how their texts are split and counted.
        check: called between two documents: lets requests run first, and raises on cancellation.

    Returns:
        How many documents were added.
    """
    stream = iter(documents)
    added = 0
    while batch := list(islice(stream, _BATCH)):
        _add_batch(db, batch, wording, check)
        added += len(batch)
    if added:
        _refresh_stats(db)
    return added


def remove(db: Database, ids: Sequence[int]) -> None:
    """Forget passages; called inside an open transaction."""
    if not ids:
        return
    cursor = db.cursor
    cursor.register("fts_gone", {"id": np.asarray(ids, dtype=np.int64)})
    try:
        cursor.execute("CREATE OR REPLACE TEMP TABLE fts_going AS SELECT id FROM fts_gone")
    finally:
        cursor.unregister("fts_gone")
    cursor.execute(
        """
        UPDATE fts_main_passage.dict d SET df = d.df - gone.n
        FROM (SELECT termid, count(DISTINCT docid) AS n FROM fts_main_passage.terms
              WHERE docid IN (SELECT id FROM fts_going) GROUP BY termid) gone
        WHERE d.termid = gone.termid
        """
    )
    cursor.execute("DELETE FROM fts_main_passage.dict WHERE df = 0")
    cursor.execute("DELETE FROM fts_main_passage.terms WHERE docid IN (SELECT id FROM fts_going)")
    cursor.execute("DELETE FROM fts_main_passage.docs WHERE docid IN (SELECT id FROM fts_going)")
    cursor.execute("DROP TABLE fts_going")
    _refresh_stats(db)


def _refresh_stats(db: Database) -> None:
    db.execute("DELETE FROM fts_main_passage.stats")
    db.execute("INSERT INTO fts_main_passage.stats SELECT count(*), coalesce(avg(len), 0) FROM fts_main_passage.docs")


def _add_batch(db: Database, batch: Sequence[Document], wording: Wording, check: Callable[[], None]) -> None:
    found = _occurrences(batch, wording, check)
    ids = np.fromiter((document.id for document in batch), dtype=np.int64, count=len(batch))
    _insert(db, "docs", {"docid": ids, "name": ids, "len": found.lengths})
    if not found.key.size:
        return
    numbers = _term_ids(db, found)
    if np.any(np.diff(numbers) < 0):
        # Rows in order of term, then document, then field: zone maps then find a term's rows quickly.
        found = _renumbered(found, numbers)
        numbers = np.sort(numbers)
    section = found.section
    _insert(
        db,
        "terms",
        {
            "docid": ids[section // len(FIELDS)],
            "fieldid": (section % len(FIELDS)).astype(np.int8),
            "termid": numbers[found.term],
        },
    )


def _renumbered(found: _Occurrences, numbers: NDArray[np.int64]) -> _Occurrences:
    """Return the occurrences in the order of other numbers of their terms."""
    place = np.argsort(np.argsort(numbers))
    key = place[found.term] << found.shift
    key |= found.section
    key.sort()
    return found._replace(key=key)


def _occurrences(batch: Sequence[Document], wording: Wording, check: Callable[[], None]) -> _Occurrences:
    texts = numbered(_words(batch, check))
    terms = Numbering()
    term, section = texts.spread([[terms[term] for term in wording.split(word)] for word in texts.vocabulary])
    shift = (len(batch) * len(FIELDS)).bit_length()
    key = term.astype(np.int64)
    key <<= shift
    key |= section
    key.sort()
    lengths = np.bincount(section, minlength=len(batch) * len(FIELDS)).reshape(-1, len(FIELDS)).sum(axis=1)
    return _Occurrences(key, shift, list(terms), lengths)


def _words(batch: Sequence[Document], check: Callable[[], None]) -> Iterator[list[str]]:
    for document in batch:
        check()
        yield from map(tokens.words, document.texts)


def _term_ids(db: Database, found: _Occurrences) -> NDArray[np.int64]:
    """Numbers of the batch's terms in the dictionary, which adds new ones and counts their documents."""
    from arro3.core import Array, DataType, Table

    term = found.term
    document = found.section // len(FIELDS)
    is_first = np.ones(len(term), dtype=bool)
    is_first[1:] = (term[1:] != term[:-1]) | (document[1:] != document[:-1])
    frequency = np.bincount(term[is_first], minlength=len(found.vocabulary))
    table = Table.from_pydict(
        {
            "local": Array.from_numpy(np.arange(len(found.vocabulary))),
            "term": Array(found.vocabulary, type=DataType.string()),
            "df": Array.from_numpy(frequency),
        }
    )
    cursor = db.cursor
    cursor.register("fts_words", table)
    try:
        cursor.execute(
            """
            CREATE OR REPLACE TEMP TABLE fts_incoming AS
            WITH known AS (
                SELECT w.local, w.term, w.df, d.termid
                FROM fts_words w LEFT JOIN fts_main_passage.dict d ON d.term = w.term
            ), top AS (SELECT coalesce(max(termid), -1) AS last FROM fts_main_passage.dict)
            SELECT local, term, df, termid IS NULL AS is_new,
                   coalesce(termid, last + row_number() OVER (PARTITION BY termid IS NULL ORDER BY local)) AS termid
            FROM known, top
            """
        )
    finally:
        cursor.unregister("fts_words")
    cursor.execute(
        "UPDATE fts_main_passage.dict d SET df = d.df + i.df FROM fts_incoming i "
        "WHERE d.termid = i.termid AND NOT i.is_new"
    )
    cursor.execute(
        "INSERT INTO fts_main_passage.dict SELECT termid, term, df FROM fts_incoming WHERE is_new ORDER BY termid"
    )
    rows: Any = cursor.execute("SELECT termid FROM fts_incoming ORDER BY local").fetchnumpy()
    cursor.execute("DROP TABLE fts_incoming")
    return np.asarray(rows["termid"], dtype=np.int64)


def _insert(db: Database, table: str, columns: dict[str, NDArray[np.int64]]) -> None:
    cursor = db.cursor
    cursor.register("fts_rows", columns)
    try:
        names = ", ".join(columns)
        cursor.execute(f"INSERT INTO fts_main_passage.{table} ({names}) SELECT {names} FROM fts_rows")  # noqa: S608 - our own names
    finally:
        cursor.unregister("fts_rows")
