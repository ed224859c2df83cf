"""The code source: chunks of the files that the project holds now."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import groupby
from typing import NamedTuple

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.ranking.source import Changes, SourceContext, SourcePassage
from cm_tui.model import CODE

_TITLE_CHARS = 300
_FILES_AT_ONCE = 2_000
"""Files whose chunks and symbols are read at once: some 50 kB each as objects."""


class Symbol(NamedTuple):
    """A symbol that names passages."""

    idx: int
    name: str
    qualname: str
    signature: str
    start_line: int


class CodeSource:
    """Passages of code, in sync with the indexed files.

    Args:
        context: provides the text of files.
    """

    name = CODE

    def __init__(self, context: SourceContext) -> None:
        self._read = context.read_blob

    def has_changed(self, _db: Database) -> bool:
        """Return false: the index run compares files, and requests changes whenever one differs."""
        return False

    def changes(self, db: Database, *, rebuild: bool) -> Changes:
        """Compare with the chunks of the current files."""
        return Changes([] if rebuild else [row[0] for row in db.rows(_GONE, [CODE])], self._missing(db))

    def _missing(self, db: Database) -> Iterator[SourcePassage]:
        paths = [row[0] for row in db.rows(_MISSING_PATHS, [CODE])]
        for first in range(0, len(paths), _FILES_AT_ONCE):
            yield from self._passages(db, paths[first : first + _FILES_AT_ONCE])

    def _passages(self, db: Database, paths: list[str]) -> Iterator[SourcePassage]:
        rows = db.rows(_MISSING, [paths, CODE])
        symbols = symbols_of(db, {row[1] for row in rows})
        for (path, blob, oid), chunks in groupby(rows, key=lambda row: row[:3]):
            lines = self._read(path, oid).split("\n")
            own = symbols.get(blob, [])
            by_idx = {symbol.idx: symbol for symbol in own}
            for *_, symbol, start, end in chunks:
                called = words_of(own, by_idx.get(symbol), start, end)
                yield SourcePassage(
                    path,
                    start,
                    end,
                    title=_title(by_idx.get(symbol)),
                    text="\n".join(lines[start - 1 : end]),
                    names=called.names,
                    inside=called.inside,
                    blob=blob,
                    symbol=symbol,
                )


_NOW = "SELECT n.path, c.blob, c.symbol, c.start_line, c.end_line FROM now_file n JOIN chunk c ON c.blob = n.blob"

_SAME = (
    "w.path = p.path AND w.blob = p.blob AND w.symbol IS NOT DISTINCT FROM p.symbol "
    "AND w.start_line = p.start_line AND w.end_line = p.end_line"
)

_GONE = f"""
SELECT p.id FROM passage p WHERE p.source = ?
AND NOT EXISTS (SELECT 1 FROM ({_NOW}) w WHERE {_SAME})
"""  # noqa: S608 - our own SQL

_IS_MISSING = f"NOT EXISTS (SELECT 1 FROM passage p WHERE p.source = ? AND {_SAME})"  # noqa: S608 - our own SQL
_MISSING_PATHS = f"SELECT DISTINCT w.path FROM ({_NOW}) w WHERE {_IS_MISSING} ORDER BY w.path"  # noqa: S608 - our own SQL
_MISSING = f"""
SELECT w.path, w.blob, b.oid, w.symbol, w.start_line, w.end_line FROM ({_NOW}) w JOIN blob b ON b.id = w.blob
WHERE w.path IN (SELECT unnest(?::VARCHAR[])) AND {_IS_MISSING}
ORDER BY w.path, w.start_line, w.end_line
"""  # noqa: S608 - our own SQL


def symbols_of(db: Database, blobs: Collection[int]) -> dict[int, list[Symbol]]:
    """Return symbols by blob, in order of their first line."""
    import numpy as np

    found: dict[int, list[Symbol]] = defaultdict(list)
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
        found[blob].append(Symbol(*rest))
    return found


class Called(NamedTuple):
    """Words by which a passage is known beyond its text."""

    names: str
    """Names of its own symbol and of those that begin in it."""
    inside: str
    """Names of their containers."""


def words_of(symbols: list[Symbol], owner: Symbol | None, start: int, end: int) -> Called:
    """Return the name of some lines: every piece of a long function has the function's name."""
    first = bisect_left(symbols, start, key=lambda symbol: symbol.start_line)
    last = bisect_right(symbols, end, key=lambda symbol: symbol.start_line)
    named = symbols[first:last]
    if owner is not None and not start <= owner.start_line <= end:
        named = [owner, *named]
    around = dict.fromkeys(symbol.qualname.removesuffix(symbol.name) for symbol in named)
    return Called(" ".join(symbol.name for symbol in named), " ".join(filter(None, around)))


def _title(symbol: Symbol | None) -> str:
    return "" if symbol is None else title_of(symbol.qualname, symbol.signature)


def title_of(qualname: str, signature: str) -> str:
    """Return the title of a passage that belongs to a symbol."""
    return f"{qualname} {' '.join(signature.split())}".strip()[:_TITLE_CHARS]
