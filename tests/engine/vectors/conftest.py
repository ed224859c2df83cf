"""A store with passages, and a provider that counts what it is asked."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.provider import unit_rows
from cm_tui.engine.search.vectors.index import VectorIndex
from cm_tui.errors import ModelError


class CountingProvider:
    """Vectors that follow from the text alone, 16 long."""

    def __init__(self, fingerprint="fake/1", dimensions=16, batch=8):
        self.fingerprint = fingerprint
        self.dimensions = dimensions
        self.batch = batch
        self.asked: list[str] = []
        self.fail_after: int | None = None

    def check(self):
        pass

    def embed(self, texts):
        if self.fail_after is not None and len(self.asked) >= self.fail_after:
            raise ModelError("The endpoint went away.")
        self.asked += texts
        return unit_rows(np.stack([self._vector(text) for text in texts]))

    def embed_query(self, text):
        return unit_rows(self._vector(text)[None, :])[0]

    def _vector(self, text):
        seed = int.from_bytes(hashlib.sha256((self.fingerprint + text).encode()).digest()[:8])
        return np.random.default_rng(seed).standard_normal(self.dimensions).astype(np.float32)

    @property
    def passages_asked(self):
        """What was asked, without words of paths."""
        return [text for text in self.asked if "\n" in text]


class Passages:
    """The table `passage`, written as `passages.sync` does: with the generation, ids never used twice."""

    def __init__(self, db):
        self.db = db
        self.next = 1

    def add(self, *texts, path="src/app.py"):
        ids = list(range(self.next, self.next + len(texts)))
        self.next += len(texts)
        digests = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts]
        with self.db.transaction() as cursor:
            cursor.execute(
                "INSERT INTO passage SELECT id, 'code', ?, 1, 0, 1, 2, 'title', text, hash, NULL, NULL, NULL "
                "FROM (SELECT unnest(?) AS id, unnest(?) AS text, unnest(?) AS hash)",
                [path, ids, list(texts), digests],
            )
            self._bump()
        return ids

    def remove(self, *ids):
        with self.db.transaction() as cursor:
            cursor.execute("DELETE FROM passage WHERE id IN (SELECT unnest(?))", [list(ids)])
            self._bump()

    def _bump(self):
        self.db.set_meta("passage_generation", str(int(self.db.get_meta("passage_generation") or 0) + 1))


@pytest.fixture
def db(tmp_path):
    database = Database(tmp_path / "store")
    yield database
    database.close()


@pytest.fixture
def passages(db):
    return Passages(db)


@pytest.fixture
def provider():
    return CountingProvider()


@pytest.fixture
def opened(db, provider):
    """Open the index: again and again, as later processes would."""

    def make(other=None, **settings):
        return VectorIndex(db, db.folder, other or provider, **settings)

    return make


def filled(index):
    """Fill to the end; the last step."""
    return list(index.fill())[-1]


def everything(index):
    """Ids and vectors, in order of id."""
    ids = np.sort(index._rows.compact().ids)
    return ids.tolist(), index.vectors_for(ids)
