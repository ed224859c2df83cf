"""The process that embeds many texts of prose: texts come in, vectors go out."""

from __future__ import annotations

import os
from contextlib import suppress

from cm_tui.engine.search.embed.prose import ProseProvider
from cm_tui.engine.search.embed.worker import serve

_NICENESS = 19
"""A large import takes it an hour, in which questions are answered as quickly as before."""


def main() -> None:
    """Embed incoming texts, until the other end closes."""
    with suppress(AttributeError, OSError):
        os.nice(_NICENESS)
    serve(ProseProvider())
