"""What the application does itself where no daemon does it: asked of any client, true of the local one alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cm_tui.model import Cancel, Progress

if TYPE_CHECKING:
    from cm_tui.engine.api.engine import Engine


def wants_history(engine: Engine) -> bool:
    """True when the configuration wants more of the past than is known, and nobody else reads it."""
    from cm_tui.engine.local import LocalEngine

    return isinstance(engine, LocalEngine) and engine.wants_history()


def catch_up(engine: Engine, cancel: Cancel) -> Iterator[Progress]:
    """Read the past as far as that."""
    from cm_tui.engine.local import LocalEngine

    if isinstance(engine, LocalEngine):
        yield from engine.catch_up(cancel)
