"""Vectors of a project: those of code by one model, those of what people and agents said by another, where there is one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.embed.choice import passages_provider_for, prose_provider_for
from cm_tui.engine.embed.provider import Provider
from cm_tui.engine.store.database import Database
from cm_tui.engine.vectors.index import State, VectorIndex
from cm_tui.engine.vectors.snapshot import PROSE_FOLDER
from cm_tui.errors import ModelError
from cm_tui.model import CODE, Cancel


class ProjectVectors:
    """The vector indexes of a project, each with its model: brought up, filled and checked as one.

    Args:
        db: the project's store.
        folder: where the files are kept.
        provider: the model that the settings ask for.
        embedding: those settings.
    """

    def __init__(self, db: Database, folder: Path, provider: Provider, embedding: EmbeddingConfig) -> None:
        self.provider = provider
        self.prose_provider = prose_provider_for(embedding)
        prose, entries = self.prose_provider, embedding.cache_entries
        beside = [] if prose is None else [prose.fingerprint]
        self.code = VectorIndex(
            db, folder, provider, entries=entries, scope="all" if prose is None else "code", beside=beside
        )
        self.prose: VectorIndex | None = None
        if prose is not None:
            # A name such as `episode/18a0…` says nothing.
            self.prose = VectorIndex(
                db, folder / PROSE_FOLDER, passages_provider_for(prose), entries=entries, path_weight=0.0, scope="prose",
                beside=[provider.fingerprint],
            )  # fmt: skip
        self._problem = ""

    def of(self, source: str) -> tuple[VectorIndex, Provider]:
        """Return the index and the model of a source."""
        if source == CODE or self.prose is None or self.prose_provider is None:
            return self.code, self.provider
        return self.prose, self.prose_provider

    @property
    def _each(self) -> tuple[VectorIndex, ...]:
        return (self.code,) if self.prose is None else (self.code, self.prose)

    @property
    def state(self) -> State:
        """How the vectors of code are searched now; of prose where there are no others."""
        return next((index.state for index in self._each if index.state != "none"), "none")

    @property
    def has_model(self) -> bool:
        """Return whether there is a model at all; without one no passage will have a vector."""
        return self.code.has_model

    @property
    def notes(self) -> list[str]:
        """Notes on what was found damaged or stale."""
        return [*(note for index in self._each for note in index.notes), *([self._problem] if self._problem else [])]

    def coverage(self) -> tuple[int, int]:
        """Return how many passages have a vector, of how many."""
        every = [index.coverage() for index in self._each]
        return sum(done for done, _ in every), sum(total for _, total in every)

    def refresh(self) -> int:
        """Bring the rows up to the store; returns how many passages still have to be embedded."""
        return sum(index.refresh() for index in self._each)

    def prepare(self, texts: Sequence[str]) -> None:
        """Begin to embed code that the next `fill` will ask for."""
        self.code.prepare(texts)

    def fill(self, cancel: Cancel | None = None, *, prose_seconds: float = math.inf) -> Iterator[tuple[int, int]]:
        """Embed the passages that have no vector: code first, which takes seconds.

        Args:
            cancel: ends it after a batch.
            prose_seconds: how long prose may take (0: it is left alone); what has no vector then gets it the next time.

        Yields:
            (done, total) passages with a vector, first as it was found.

        Raises:
            ModelError: the model of code cannot be used; why that of prose cannot is in the notes.
            CancelledError: `cancel` was set; the batches so far are kept and searchable.
        """
        done, total = 0, 0
        there, wanted = (0, 0) if self.prose is None else self.prose.coverage()
        for done, total in self.code.fill(cancel):
            yield done + there, total + wanted
        if wanted and prose_seconds:
            until = time.monotonic() + prose_seconds
            for there, wanted in self.fill_prose(cancel):
                yield done + there, total + wanted
                if time.monotonic() > until:
                    break

    def fill_prose(self, cancel: Cancel | None = None) -> Iterator[tuple[int, int]]:
        """Embed what was said and has no vector, newest first; why the model cannot be used is in the notes.

        Yields:
            (done, total) passages with a vector, first as it was found.

        Raises:
            CancelledError: `cancel` was set; the batches so far are kept and searchable.
        """
        if self.prose is None:
            return
        try:
            yield from self.prose.fill(cancel)
            self._problem = ""
        except ModelError as error:
            self._problem = f"What was said is searched by keyword only: {error.message}"

    def build_graph(self, cancel: Cancel | None = None) -> Iterator[tuple[int, int]]:
        """Build and save the graphs of those indexes that are large enough for one.

        Raises:
            CancelledError: `cancel` was set.
        """
        for index in self._each:
            yield from index.build_graph(cancel)

    def verify(self) -> tuple[str, ...]:
        """Compare every row with the store, and mend what differs; returns what was wrong, in words."""
        return tuple(problem for index in self._each for problem in index.verify())
