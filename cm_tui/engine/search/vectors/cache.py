"""The table `embedding`: vectors by content and fingerprint, so that each text is embedded only once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store import bulk
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.vectors.codec import Codes, path_words
from cm_tui.engine.search.vectors.live import Ids, Keys
from cm_tui.errors import ModelError
from cm_tui.model import CODE

Names = NDArray[np.object_]

IN_USE = 2**63 - 1
"""`last_used` of vectors that a passage needs now; they are never dropped."""

# DuckDB's own hash: should a later version change it, rows no longer match and are made again from this table.
KEY = "hash(p.path, p.hash)"


Scope = Literal["all", "code", "prose"]
"""Passages of an index: of every source, of code, or of all others."""
_WITHIN: Mapping[Scope, str] = {"all": "true", "code": f"p.source = '{CODE}'", "prose": f"p.source <> '{CODE}'"}


@dataclass(frozen=True, slots=True)
class Needed:
    """Passages to embed, in columns."""

    ids: Ids
    keys: Keys
    hashes: Names
    path_hashes: Names

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, chosen: slice | NDArray[np.bool_]) -> Needed:
        return Needed(self.ids[chosen], self.keys[chosen], self.hashes[chosen], self.path_hashes[chosen])

    def outside(self, names: frozenset[str]) -> Needed:
        """Return those whose text and path have none of these names."""
        if not names:
            return self
        both = zip(self.hashes, self.path_hashes, strict=True)
        return self[np.array([text not in names and path not in names for text, path in both], dtype=bool)]


@lru_cache(maxsize=10_000)
def path_hash(path: str) -> str:
    """Key of a path's vector, next to those of passages."""
    return f"path:{path_words(path)}"


def total(db: Database, scope: Scope) -> int:
    """Return how many passages there are."""
    return int(db.value(f"SELECT count(*) FROM passage p WHERE {_WITHIN[scope]}"))  # noqa: S608 - constants


def live_keys(db: Database, scope: Scope = "all") -> tuple[Ids, Keys]:
    """Return the ids and keys of passages."""
    sql = f"SELECT p.id, {KEY} AS key FROM passage p WHERE {_WITHIN[scope]}"  # noqa: S608 - constants
    found = db.cursor.execute(sql).fetchnumpy()
    return np.asarray(found["id"], dtype=np.int64), np.asarray(found["key"], dtype=np.uint64)


def with_vector(db: Database, scope: Scope, fingerprint: str) -> Ids:
    """Return the ids of passages whose text has a vector."""
    sql = (
        "SELECT p.id FROM passage p JOIN embedding e ON e.hash = p.hash "  # noqa: S608 - constants
        f"WHERE e.fingerprint = ? AND {_WITHIN[scope]}"
    )
    return np.asarray(db.cursor.execute(sql, [fingerprint]).fetchnumpy()["id"], dtype=np.int64)


def needed(db: Database, ids: Ids) -> Needed:
    """Return the data on these passages, in order of id."""
    rows: list[tuple[Any, ...]] = []
    if len(ids):
        with bulk.given(db, "wanted_ids", {"id": ids.tolist()}, {"id": "BIGINT"}) as cursor:
            rows = cursor.execute(
                f"SELECT p.id, {KEY}, p.hash, p.path FROM passage p JOIN wanted_ids w ON w.id = p.id ORDER BY p.id"  # noqa: S608
            ).fetchall()
    return Needed(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.uint64),
        np.array([row[2] for row in rows], dtype=object),
        np.array([path_hash(row[3]) for row in rows], dtype=object),
    )


def texts(db: Database, passages: Needed) -> dict[str, tuple[str, str]]:
    """Return title and text of passages, by their hash."""
    # By id, for ids are in order on disk: DuckDB reads the neighbourhood instead of every text.
    with bulk.given(db, "wanted_ids", {"id": passages.ids.tolist()}, {"id": "BIGINT"}) as cursor:
        sql = "SELECT p.hash, p.title, p.text FROM passage p JOIN wanted_ids w ON w.id = p.id ORDER BY p.id"
        return {row[0]: (row[1], row[2]) for row in cursor.execute(sql).fetchall()}


def lookup(db: Database, hashes: Iterable[str], fingerprint: str) -> dict[str, bytes]:
    """Return packed vectors that are already there, by hash."""
    with bulk.given(db, "wanted_hashes", {"hash": list(hashes)}, {"hash": "VARCHAR"}) as cursor:
        sql = "SELECT e.hash, e.vector FROM embedding e JOIN wanted_hashes w ON w.hash = e.hash WHERE e.fingerprint = ?"
        return dict(cursor.execute(sql, [fingerprint]).fetchall())


def vector_bytes(db: Database, fingerprint: str) -> int:
    """Return the length of a model's stored vectors; 0: none is stored."""
    return int(db.value("SELECT octet_length(vector) FROM embedding WHERE fingerprint = ? LIMIT 1", [fingerprint]) or 0)


def store(db: Database, fingerprint: str, vectors: Mapping[str, bytes]) -> None:
    """Store vectors that a passage needs, all of one length; existing ones are unchanged.

    Raises ModelError: their length differs from the stored ones'.
    """
    length = len(next(iter(vectors.values())))
    with db.transaction():
        before = vector_bytes(db, fingerprint)
        if before not in (0, length):
            raise ModelError(
                f"The model now gives {length} dimensions, the stored vectors have {before}: "
                "it has changed under its name.",
                hint="Set embedding.dimensions, or run `cm rebuild`.",
            )
        known = lookup(db, vectors, fingerprint)
        new = {name: blob for name, blob in vectors.items() if name not in known}
        columns: dict[str, Sequence[Any]] = {
            "hash": list(new),
            "fingerprint": [fingerprint] * len(new),
            "vector": list(new.values()),
            "last_used": [IN_USE] * len(new),
        }
        db.insert("embedding", columns)


def expire(db: Database, fingerprints: Sequence[str], entries: int) -> int:
    """Mark unneeded vectors with the time, and drop the longest unused ones beyond `entries`.

    `fingerprints`: of all current models of passages; `entries`: number of unneeded vectors to keep. Returns how many
    were dropped.
    """
    paths = sorted({path_hash(row[0]) for row in db.rows("SELECT DISTINCT path FROM passage")})
    live = "list_contains(?, fingerprint) AND (hash IN (SELECT hash FROM passage) OR hash IN (SELECT hash FROM live_paths))"
    idle = f"last_used <> {IN_USE}"
    with bulk.given(db, "live_paths", {"hash": paths}, {"hash": "VARCHAR"}) as cursor, db.transaction():
        cursor.execute(
            f"UPDATE embedding SET last_used = ? WHERE last_used = {IN_USE} AND NOT ({live})",  # noqa: S608
            [int(time.time()), list(fingerprints)],
        )
        cursor.execute(f"UPDATE embedding SET last_used = {IN_USE} WHERE {idle} AND {live}", [list(fingerprints)])  # noqa: S608
        surplus = int(db.value(f"SELECT count(*) FROM embedding WHERE {idle}")) - entries  # noqa: S608
        if surplus > 0:
            cursor.execute(
                "DELETE FROM embedding WHERE rowid IN (SELECT rowid FROM embedding "  # noqa: S608
                f"WHERE {idle} ORDER BY last_used, rowid LIMIT ?)",
                [surplus],
            )
        return max(0, surplus)


def drop_unused(db: Database) -> None:
    """Drop the vectors of texts without a passage; those of paths contain only their words, and are kept."""
    db.execute("DELETE FROM embedding WHERE NOT starts_with(hash, 'path:') AND hash NOT IN (SELECT hash FROM passage)")


def to_codes(found: Mapping[str, bytes], hashes: Names) -> Codes:
    """Packed rows of these hashes, all of which exist."""
    return np.frombuffer(b"".join(found[name] for name in hashes), dtype=np.int8).reshape(len(hashes), -1)
