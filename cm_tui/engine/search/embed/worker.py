"""The programs of embedding processes: texts come in, vectors go out."""

from __future__ import annotations

import os
from contextlib import suppress

from cm_tui.worker_process import serve

_NICENESS = 19
"""Of prose: a large import takes it an hour, in which questions are answered as quickly as before."""


def code() -> None:
    """Embed incoming texts with the bundled model, until the other end closes."""
    from cm_tui.engine.search.embed.bundled import BundledProvider

    serve(BundledProvider().embed)


def prose() -> None:
    """Embed incoming texts with the model of prose at low priority, until the other end closes."""
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    prose_at_once()


def prose_at_once() -> None:
    """Embed incoming texts with the model of prose, until the other end closes."""
    from cm_tui.engine.search.embed.prose import ProseProvider

    serve(ProseProvider().embed)
