"""Composes the vectors of passages from stored ones, and embeds missing ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.provider import Provider, passage_text
from cm_tui.engine.search.vectors import cache
from cm_tui.engine.search.vectors.cache import Needed
from cm_tui.engine.search.vectors.codec import Codes, mix, pack


class Embedder:
    """Vectors of passages: of their texts and of their paths' words, each embedded once, then mixed.

    `weight`: share of the path's words; 0: they are not embedded.
    """

    def __init__(self, db: Database, provider: Provider, weight: float) -> None:
        self._db = db
        self._provider = provider
        self._weight = weight

    def stored(self, passages: Needed) -> tuple[Codes, NDArray[np.bool_]]:
        """Vectors of the passages whose parts are stored, and those passages."""
        names = {*passages.hashes, *self._paths(passages)}
        found = cache.lookup(self._db, names, self._provider.fingerprint) if names else {}
        both = zip(passages.hashes, passages.path_hashes, strict=True)
        have = np.array([text in found and (not self._weight or path in found) for text, path in both], dtype=bool)
        if not have.any():
            return np.empty((0, 0), dtype=np.int8), have
        texts = cache.to_codes(found, passages.hashes[have])
        if not self._weight:
            return texts, have
        paths = cache.to_codes(found, passages.path_hashes[have])
        return mix(texts, paths, self._weight), have

    def embed(self, work: dict[str, str]) -> None:
        """Embed what `unstored` returned, and store it in one transaction.

        Raises ModelError if the model cannot be used.
        """
        if not work:
            return
        codes = pack(self._provider.embed(list(work.values())))
        vectors = {name: row.tobytes() for name, row in zip(work, codes, strict=True)}
        cache.store(self._db, self._provider.fingerprint, vectors)

    def unstored(self, passages: Needed) -> dict[str, str]:
        """Return the missing texts and paths of these passages, by the names of their vectors."""
        paths = self._paths(passages)
        known = cache.lookup(self._db, paths.union(passages.hashes), self._provider.fingerprint).keys()
        new = np.array([name not in known for name in passages.hashes], dtype=bool)
        texts = cache.texts(self._db, passages[new])
        work = {name: passage_text(title, text) for name, (title, text) in texts.items()}
        return work | {name: name.removeprefix("path:") for name in sorted(paths - known)}

    def _paths(self, passages: Needed) -> set[str]:
        return set(passages.path_hashes) if self._weight else set()
