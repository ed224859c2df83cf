"""How lasting sentences sound by their words: the product of their vectors and learned weights (`lasting.json`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from cm_tui.engine.memory.narrator.cues import lasting
from cm_tui.errors import ModelError

if TYPE_CHECKING:
    from cm_tui.engine.search.embed.bundled import BundledProvider


@cache
def _provider() -> BundledProvider:
    from cm_tui.engine.search.embed.bundled import BundledProvider

    return BundledProvider()


@cache
def _weights() -> Any:
    import numpy as np

    return np.array(lasting().sound, np.float32)


def vectors_of(sentences: Sequence[str]) -> Any:
    """Return vectors of sentences by the bundled model, a row each.

    Raises ModelError if a file of the model is missing or damaged.
    """
    return _provider().embed(sentences)


def sounds_of(sentences: Sequence[str]) -> list[float | None]:
    """Return the vectors' contributions to how lasting sentences sound; None each: no model."""
    try:
        found: list[float | None] = (vectors_of(sentences) @ _weights()).tolist()
    except ModelError:
        # Cues alone are less reliable, but sufficient.
        return [None] * len(sentences)
    return found
