"""Passages of code: kept equal to what the project's files hold now, with their keyword index."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import groupby, islice
from typing import NamedTuple

from cm_tui.engine.embed import passage_text
from cm_tui.engine.search import fts_writer
from cm_tui.engine.store.database import Database

GENERATION = "passage_generation"
"""Key in `meta`: rises with every change of the passages; the vector index and caches are tied to it."""
VERSION = "1"
"""Counted up when titles, texts or words of passages are made in another way: `sync` then makes all of them again."""
_MADE_BY = "passage_version"
_NEXT_ID = "passage_next_id"
_TITLE_CHARS = 300
_BATCH = 20_000


class PassageDelta(NamedTuple):
    """What `sync` changed."""

    added: int
    removed: int


class _Symbol(NamedTuple):
    idx: int
    name: str
    qualname: str
    signature: str
    start_line: int


class _Passage(NamedTuple):
    id: int
    path: str
    blob: int
    symbol: int | None
    start_line: int
    end_line: int
    title: str
    text: str
    names: str
    """Names of the symbols that it defines."""


def generation(db: Database) -> int:
    """Number of the current state of the passages."""
    return int(db.get_meta(GENERATION) or 0)


def is_current(db: Database) -> bool:
    """True when the passages were made the way they are made now."""
    return db.get_meta(_MADE_BY) == VERSION


def sync(
    db: Database, read: Callable[[str, str], str], coming: Callable[[list[str]], None] = lambda _: None
) -> PassageDelta:
    """Make passages and keyword index equal to the chunks of the files that are there now.

    Called inside the transaction that changes the files.

    Args:
        db: the project's store.
        read: gives the text of a file from its path and object id.
        coming: told what will have to be embedded, as soon as that is known.
    """
    current = is_current(db)
    gone = [row[0] for row in db.rows(_GONE if current else _ALL)]
    fts_writer.remove(db, gone)
    if gone:
        db.execute("DELETE FROM passage WHERE id IN (SELECT unnest(?))", [gone])
    added = _add(db, read, coming)
    if gone or added:
        db.set_meta(GENERATION, str(generation(db) + 1))
    if not current:
        db.set_meta(_MADE_BY, VERSION)
    return PassageDelta(added, len(gone))


def reindex(db: Database) -> None:
    """Make the keyword index again from the passages, sorted anew; called inside an open transaction."""
    fts_writer.clear(db)
    rows = db.rows("SELECT id, path, blob, start_line, end_line, text FROM passage ORDER BY id")
    symbols = _symbols(db, {row[2] for row in rows if row[2] is not None})
    fts_writer.add(
        db,
        (
            fts_writer.Document(key, (path, _names(symbols.get(blob, []), start, end), text))
            for key, path, blob, start, end, text in rows
        ),
    )


_ALL = "SELECT id FROM passage WHERE source = 'code'"

_NOW = "SELECT n.path, c.blob, c.symbol, c.start_line, c.end_line FROM now_file n JOIN chunk c ON c.blob = n.blob"

_SAME = (
    "w.path = p.path AND w.blob = p.blob AND w.symbol IS NOT DISTINCT FROM p.symbol "
    "AND w.start_line = p.start_line AND w.end_line = p.end_line"
)

_GONE = f"""
SELECT p.id FROM passage p WHERE p.source = 'code'
AND NOT EXISTS (SELECT 1 FROM ({_NOW}) w WHERE {_SAME})
"""  # noqa: S608 - our own SQL

_MISSING = f"""
SELECT w.path, w.blob, b.oid, w.symbol, w.start_line, w.end_line FROM ({_NOW}) w JOIN blob b ON b.id = w.blob
WHERE NOT EXISTS (SELECT 1 FROM passage p WHERE p.source = 'code' AND {_SAME})
ORDER BY w.path, w.start_line, w.end_line
"""  # noqa: S608 - our own SQL


def _add(db: Database, read: Callable[[str, str], str], coming: Callable[[list[str]], None]) -> int:
    missing = db.rows(_MISSING)
    if not missing:
        return 0
    symbols = _symbols(db, {row[1] for row in missing})
    next_id = int(db.get_meta(_NEXT_ID) or 1)
    stream = _passages(missing, symbols, read, next_id)
    added = 0
    while batch := list(islice(stream, _BATCH)):
        coming([passage_text(p.title, p.text) for p in batch])
        _insert(db, batch)
        fts_writer.add(db, (fts_writer.Document(p.id, (p.path, p.names, p.text)) for p in batch))
        added += len(batch)
    db.set_meta(_NEXT_ID, str(next_id + added))
    return added


def _symbols(db: Database, blobs: set[int]) -> dict[int, list[_Symbol]]:
    """Symbols by blob, in order of their first line."""
    import numpy as np

    found: dict[int, list[_Symbol]] = defaultdict(list)
    cursor = db.cursor
    cursor.register("wanted_blobs", {"blob": np.fromiter(blobs, dtype=np.int64, count=len(blobs))})
    try:
        rows = cursor.execute(
            "SELECT blob, idx, name, qualname, signature, start_line FROM symbol "
            "WHERE blob IN (SELECT blob FROM wanted_blobs) ORDER BY blob, start_line, idx"
        ).fetchall()
    finally:
        cursor.unregister("wanted_blobs")
    for blob, *rest in rows:
        found[blob].append(_Symbol(*rest))
    return found


def _passages(
    rows: list[tuple[str, int, str, int | None, int, int]],
    symbols: dict[int, list[_Symbol]],
    read: Callable[[str, str], str],
    next_id: int,
) -> Iterator[_Passage]:
    for (path, blob, oid), chunks in groupby(rows, key=lambda row: row[:3]):
        lines = read(path, oid).split("\n")
        own = symbols.get(blob, [])
        by_idx = {symbol.idx: symbol for symbol in own}
        for *_, symbol, start, end in chunks:
            owner = by_idx.get(symbol) if symbol is not None else None
            yield _Passage(
                next_id, path, blob, symbol, start, end,
                title=_title(owner),
                text="\n".join(lines[start - 1 : end]),
                names=_names(own, start, end),
            )  # fmt: skip
            next_id += 1


def _title(symbol: _Symbol | None) -> str:
    if symbol is None:
        return ""
    signature = " ".join(symbol.signature.split())
    return f"{symbol.qualname} {signature}".strip()[:_TITLE_CHARS]


def _names(symbols: list[_Symbol], start: int, end: int) -> str:
    """Names of the symbols that begin within some lines."""
    first = bisect_left(symbols, start, key=lambda symbol: symbol.start_line)
    last = bisect_right(symbols, end, key=lambda symbol: symbol.start_line)
    return " ".join(symbol.name for symbol in symbols[first:last])


def _insert(db: Database, batch: list[_Passage]) -> None:
    from arro3.core import DataType

    integer, text = DataType.int32(), DataType.string()
    db.insert(
        "passage",
        {
            "id": [p.id for p in batch],
            "source": ["code"] * len(batch),
            "path": [p.path for p in batch],
            "blob": [p.blob for p in batch],
            "symbol": [p.symbol for p in batch],
            "start_line": [p.start_line for p in batch],
            "end_line": [p.end_line for p in batch],
            "title": [p.title for p in batch],
            "text": [p.text for p in batch],
            "hash": [content_hash(p.title, p.text) for p in batch],
        },
        {
            "id": integer, "source": text, "path": text, "blob": integer, "symbol": integer, "start_line": integer,
            "end_line": integer, "title": text, "text": text, "hash": text,
        },
    )  # fmt: skip


def content_hash(title: str, text: str) -> str:
    """Name of what is embedded; without the path, so that a moved file keeps its vectors."""
    data = f"{title}\n{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()
