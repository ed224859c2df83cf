"""The table of passages, in sync with its sources, and the keyword index."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.platform.store.generations import PASSAGE_GENERATION
from cm_tui.engine.search.embed.provider import passage_text
from cm_tui.engine.search.ranking import fts_writer
from cm_tui.engine.search.ranking.source import Source, SourcePassage
from cm_tui.engine.search.ranking.wording import wording_of
from cm_tui.model import CODE

VERSION = "5"
"""Counted up when titles, texts or words of passages are made in another way: `sync` then makes all of them again."""
_MADE_BY = "passage_version"
_NEXT_ID = "passage_next_id"
_BATCH = 10_000


class PassageDelta(NamedTuple):
    """Changes that `sync` made."""

    added: int
    removed: int
    notes: tuple[str, ...] = ()
    """Notes on data that a source could not read."""
    more: bool = False
    """Whether a source has more, for another transaction."""


def generation(db: Database) -> int:
    """Return the number of the current state of the passages."""
    return db.number(PASSAGE_GENERATION)


def is_current(db: Database) -> bool:
    """Return whether the passages were made the way they are made now."""
    return db.get_meta(_MADE_BY) == VERSION


def sync(
    db: Database,
    sources: Iterable[Source],
    on_new_texts: Callable[[list[str]], None] = lambda _: None,
    check: Callable[[], None] = lambda: None,
) -> PassageDelta:
    """Make passages and keyword index equal to the current content of some sources.

    Called inside the transaction that changes the files.

    Args:
        db: the project's store.
        sources: those that may have changed; all of them where the passages are not current.
        on_new_texts: called with the texts to embed, as soon as they are known.
        check: called between two passages: lets requests run first, and raises on cancellation.
    """
    rebuild = not is_current(db)
    added = removed = 0
    more = False
    notes: list[str] = []
    for source in sources:
        changes = source.changes(db, rebuild=rebuild)
        gone = _ids_of(db, source.name) if rebuild else changes.gone
        _remove(db, gone)
        # Only code is embedded beforehand: it comes in thousands, and may be sent to an endpoint.
        told = on_new_texts if source.name == CODE else lambda _: None
        added += _add(db, source.name, changes.new, told, check)
        removed += len(gone)
        notes += changes.notes
        more |= changes.more
    if added or removed:
        db.set_meta(PASSAGE_GENERATION, str(generation(db) + 1))
    if rebuild:
        db.set_meta(_MADE_BY, VERSION)
    return PassageDelta(added, removed, tuple(notes), more)


class Kept(NamedTuple):
    """The text of a remembered item that is not a file."""

    text: str
    source: str
    time: int | None
    """When it was written: seconds since the epoch."""


def text_at(db: Database, path: str) -> Kept | None:
    """Return the text at a path that is not a file: passages of other sources than code, line by line."""
    rows = db.rows(
        "SELECT start_line, text, source, time FROM passage WHERE path = ? AND blob IS NULL ORDER BY start_line", [path]
    )
    if not rows:
        return None
    lines: list[str] = []
    for start, text, *_ in rows:
        # Blank lines between two passages belong to none of them.
        lines += [""] * (start - 1 - len(lines))
        lines[start - 1 :] = text.split("\n")
    return Kept("\n".join(lines), *rows[0][2:])


def content_hash(title: str, text: str) -> str:
    """Name of an embedded text; without the path, so that a moved file keeps its vectors."""
    data = f"{title}\n{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _words_of(source: str, path: str) -> str:
    """Indexed part of a path: none of a name such as `episode/18a0…`, whose letters would only add to the length."""
    return "" if path.startswith(f"{source}/") else path


def _ids_of(db: Database, source: str) -> list[int]:
    return [row[0] for row in db.rows("SELECT id FROM passage WHERE source = ?", [source])]


def _remove(db: Database, ids: Sequence[int]) -> None:
    fts_writer.remove(db, ids)
    if ids:
        db.execute("DELETE FROM passage WHERE id IN (SELECT unnest(?))", [list(ids)])


def _add(
    db: Database,
    source: str,
    new: Iterable[SourcePassage],
    on_new_texts: Callable[[list[str]], None],
    check: Callable[[], None],
) -> int:
    first = db.number(_NEXT_ID, 1)
    stream = iter(new)
    added = 0
    while batch := list(islice(stream, _BATCH)):
        on_new_texts([passage_text(passage.title, passage.text) for passage in batch])
        ids = range(first + added, first + added + len(batch))
        _insert(db, source, ids, batch)
        documents = (
            fts_writer.Document(
                key, (_words_of(source, p.path), p.names, f"{p.inside}\n{p.text}" if p.inside else p.text)
            )
            for key, p in zip(ids, batch, strict=True)
        )
        fts_writer.add(db, documents, wording_of(source), check)
        added += len(batch)
        if len(batch) == _BATCH:
            # Blocks that were written would stay cached, up to DuckDB's limit.
            db.release_blocks()
    if added:
        db.set_meta(_NEXT_ID, str(first + added))
    return added


def _insert(db: Database, source: str, ids: Sequence[int], batch: Sequence[SourcePassage]) -> None:
    db.insert(
        "passage",
        {
            "id": list(ids),
            "source": [source] * len(batch),
            "path": [p.path for p in batch],
            "blob": [p.blob for p in batch],
            "symbol": [p.symbol for p in batch],
            "start_line": [p.start_line for p in batch],
            "end_line": [p.end_line for p in batch],
            "title": [p.title for p in batch],
            "text": [p.text for p in batch],
            "hash": [content_hash(p.title, p.text) for p in batch],
            "time": [p.time for p in batch],
            "thread": [p.thread for p in batch],
            "place": [p.place for p in batch],
        },
    )
