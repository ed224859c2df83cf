"""The program of the process that embeds many texts of prose: texts come in, vectors go out."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import suppress

import numpy as np

from cm_tui.engine.embed.prose import ProseProvider

_NICENESS = 19
"""A large import takes it an hour, in which questions are answered as quickly as before."""


def main() -> None:
    """Embed what comes in, until the other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    provider = ProseProvider()
    while True:
        try:
            texts: list[str] = pickle.load(inward)  # noqa: S301 - from our own parent process
        except EOFError:
            return
        pickle.dump(np.asarray(provider.embed(texts)), outward, protocol=pickle.HIGHEST_PROTOCOL)
        outward.flush()
