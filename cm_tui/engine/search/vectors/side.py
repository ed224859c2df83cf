"""A model of code with its vectors, and those of prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cm_tui.config import EmbeddingConfig
from cm_tui.engine.platform.store.database import Database
from cm_tui.engine.search.embed.choice import passages_provider_for, prose_provider_for
from cm_tui.engine.search.embed.provider import Provider
from cm_tui.engine.search.vectors.index import VectorIndex

Choice = tuple[Provider, EmbeddingConfig]
"""A model, and the settings that ask for it."""


@dataclass(frozen=True, slots=True)
class Side:
    """What answers questions as long as one model is in use."""

    provider: Provider
    settings: EmbeddingConfig
    code: VectorIndex
    """Of all sources if prose has no model of its own."""
    prose_provider: Provider | None
    prose: VectorIndex | None


def open_side(db: Database, folder: Path, prose_folder: Path, choice: Choice, fingerprints: Sequence[str]) -> Side:
    """Open the vectors of a model.

    `choice`: the model of code; `fingerprints`: of all models of code whose vectors are kept.
    """
    provider, settings = choice
    prose = prose_provider_for(settings)
    beside = [*fingerprints, *([] if prose is None else [prose.fingerprint])]
    entries = settings.cache_entries
    code = VectorIndex(db, folder, provider, entries=entries, scope="all" if prose is None else "code", beside=beside)
    if prose is None:
        return Side(provider, settings, code, None, None)
    # A name such as `episode/18a0…` is meaningless.
    said = VectorIndex(
        db, prose_folder, passages_provider_for(prose), entries=entries, path_weight=0.0, scope="prose", beside=beside
    )
    return Side(provider, settings, code, prose, said)
