"""The program of the embedding process: texts come in, vectors go out."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from cm_tui.engine.search.embed.provider import Matrix


class _Embeds(Protocol):
    def embed(self, texts: Sequence[str]) -> Matrix: ...


def main() -> None:
    """Embed incoming texts with the bundled model, until the other end closes."""
    from cm_tui.engine.search.embed.bundled import BundledProvider

    serve(BundledProvider())


def serve(provider: _Embeds) -> None:
    """Embed incoming texts, until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    while True:
        try:
            texts: list[str] = pickle.load(inward)  # noqa: S301 - from our own parent process
        except EOFError:
            return
        pickle.dump(np.asarray(provider.embed(texts)), outward, protocol=pickle.HIGHEST_PROTOCOL)
        outward.flush()
